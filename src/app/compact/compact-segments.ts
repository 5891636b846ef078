// Tokens of each stretch of a planned compaction's timeline, before and after; the stretches add up to the events of the view.
import type { Event } from "../../core/event/event.ts";
import type { Turn } from "../../core/event/turn.ts";
import type { CompactionPlan } from "../../core/plan/plan-compaction.ts";
import type { PlanSegment } from "../../core/plan/plan-timeline.ts";
import type { ProjectedTurn, View } from "../../core/projection/view.ts";
import type { CompactSegment } from "../plan/compact-report.ts";

interface Facts {
  readonly turns: ReadonlyMap<number, Turn>;
  readonly before: View;
  readonly after: View;
  /** Tokens of an event, not rounded. */
  readonly countEvent: (event: Event) => number;
}

/** Counts the tokens of each segment of a plan. */
export function segmentTokens(plan: CompactionPlan, { turns, before, after, countEvent }: Facts): CompactSegment[] {
  const place = createPlacer(plan, turns);
  const count = (view: View): number[] => {
    const sums = plan.segments.map(() => 0);
    for (const turn of view.turns)
      for (const event of turn.events) {
        const index = place(turn, event.id);
        sums[index] = (sums[index] ?? 0) + countEvent(event);
      }
    return sums.map(Math.round);
  };
  const [was, is] = [count(before), count(after)];
  return plan.segments.map((segment, index) => ({
    from: segment.from,
    to: segment.to,
    kind: segment.kind,
    ...(segment.policies === undefined ? {} : { policies: segment.policies }),
    tokens: { before: was[index] ?? 0, after: is[index] ?? 0 },
  }));
}

/** Gives the segment that an event of a view counts to; a turn that is cut between two segments counts to both. */
function createPlacer(
  { segments, compaction }: CompactionPlan,
  turns: ReadonlyMap<number, Turn>,
): (turn: ProjectedTurn, event: string) => number {
  const positions = new Map<string, number>();
  for (const index of [compaction.from_turn, compaction.to_turn]) {
    for (const [position, event] of turns.get(index)?.events.entries() ?? []) positions.set(event.id, position);
  }
  const first = compaction.from_event === undefined ? 0 : (positions.get(compaction.from_event) ?? 0);
  const last =
    compaction.to_event === undefined
      ? Number.POSITIVE_INFINITY
      : (positions.get(compaction.to_event) ?? Number.POSITIVE_INFINITY);
  const isPlanned = (turn: number, event: string): boolean => {
    const position = positions.get(event) ?? 0;
    return (turn > compaction.from_turn || position >= first) && (turn < compaction.to_turn || position <= last);
  };
  return (projected, event) => {
    const turn = projected.origin.kind === "kept" ? projected.origin.turn : projected.origin.from;
    const holding = segments.flatMap((segment: PlanSegment, index) =>
      segment.from <= turn && turn <= segment.to ? [index] : [],
    );
    if (holding.length <= 1) return holding[0] ?? 0;
    if (projected.origin.kind !== "kept")
      return holding.find((index) => segments[index]?.kind === "summary") ?? holding[0] ?? 0;
    const planned = isPlanned(turn, event);
    return holding.find((index) => (segments[index]?.planned === true) === planned) ?? holding[0] ?? 0;
  };
}
