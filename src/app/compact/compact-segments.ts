// Tokens of each stretch of a planned compaction's timeline, before and after; the stretches add up to the events of the view.

import type { CompactionPlan } from "../../core/compact/plan.ts";
import type { Event, ProjectedTurn, Turn, View } from "../../core/conversation/event.ts";
import { defined } from "../../core/json.ts";
import type { CompactSegment } from "../plan/compact-report.ts";

interface Facts {
  readonly turns: ReadonlyMap<number, Turn>;
  readonly before: View;
  readonly after: View;
  /** Tokens of an event, not rounded. */
  readonly countEvent: (event: Event) => number;
}

/** Counts the tokens of each segment of a plan. */
export function segmentTokens(
  plan: Pick<CompactionPlan, "segments">,
  { turns, before, after, countEvent }: Facts,
): CompactSegment[] {
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
    ...defined({ policies: segment.policies }),
    tokens: { before: was[index] ?? 0, after: is[index] ?? 0 },
  }));
}

/** The last segment that begins at or before a place, by halving: there may be as many as turns. -1 = none. */
function lastStarted(segments: CompactionPlan["segments"], turn: number, position: number): number {
  let [low, high] = [0, segments.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const { from = 0, fromIndex = 0 } = segments[middle] ?? {};
    if (from < turn || (from === turn && fromIndex <= position)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * Gives the segment that an event of a view counts to: where it stands in its turn, also where the turn is cut between several.
 * A summary counts to its own, or to the one that takes its place.
 */
function createPlacer(
  { segments }: Pick<CompactionPlan, "segments">,
  turns: ReadonlyMap<number, Turn>,
): (turn: ProjectedTurn, event: string) => number {
  const cut = new Set(segments.filter(({ fromIndex }) => fromIndex !== undefined).map(({ from }) => from));
  const positions = new Map<string, number>();
  for (const turn of cut)
    for (const [position, { id }] of turns.get(turn)?.events.entries() ?? []) positions.set(id, position);
  const ofKept = (turn: number, event: string): number => {
    const position = cut.has(turn) ? (positions.get(event) ?? 0) : 0;
    return lastStarted(segments, turn, position);
  };
  const ofSummary = (turn: number, compaction: string): number => {
    const held = segments.filter(({ from, to }) => from <= turn && turn <= to);
    const own = held.find((segment) => segment.compaction === compaction);
    const found = own ?? held.find(({ planned }) => planned) ?? held.find(({ kind }) => kind === "summary") ?? held[0];
    return found === undefined ? 0 : segments.indexOf(found);
  };
  return ({ origin }, event) =>
    Math.max(0, origin.kind === "kept" ? ofKept(origin.turn, event) : ofSummary(origin.from, origin.compaction));
}
