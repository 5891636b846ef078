// How far a new summary reaches when ranges may begin and end inside turns: the rule of summary-range.ts, applied to the
// order of all end points instead of turn positions.
import type { Compaction } from "../compaction/compaction.ts";
import type { Turn } from "../event/turn.ts";
import type { EventRange } from "./range-location.ts";
import { extendSummaryRange } from "./summary-range.ts";

/** A place between events: turn and position in it. */
interface Point {
  readonly turn: number;
  readonly index: number;
}

/** Whether a compaction stands for turns by a text or a list, so that a new summary may not cut through it. */
export function standsForTurns(compaction: Compaction): boolean {
  return compaction.summary !== undefined || compaction.replacement !== undefined;
}

/** Extends the range of a new summary over every live summary or replacement that it partly overlaps, repeatedly. */
export function extendEventRange(
  range: EventRange,
  compactions: readonly Compaction[],
  facts: { readonly turnCount: number; readonly turns: ReadonlyMap<number, Turn> },
): EventRange {
  const summaries = compactions
    .filter((compaction) => standsForTurns(compaction))
    .map((compaction) => eventRangeOf(compaction, facts))
    .filter((each) => each !== null);
  const points = [range, ...summaries].flatMap((each) => [startOf(each), endOf(each)]).sort(comparePoints);
  const rank = (point: Point): number => points.findIndex((other) => comparePoints(point, other) === 0);
  const ranked = (each: EventRange): { from: number; to: number } => ({
    from: rank(startOf(each)),
    to: rank(endOf(each)),
  });
  const extended = extendSummaryRange(ranked(range), summaries.map(ranked));
  const [start, end] = [points[extended.from] as Point, points[extended.to] as Point];
  return { from: start.turn, fromIndex: start.index, to: end.turn, toIndex: end.index };
}

/**
 * The events a compaction covers, clamped to the conversation; null for none. A bound in a turn that was not read counts as
 * the whole turn. One that its turn does not hold lies behind what is there.
 */
export function eventRangeOf(
  compaction: Compaction,
  { turnCount, turns }: { readonly turnCount: number; readonly turns: ReadonlyMap<number, Turn> },
): EventRange | null {
  const first = turns.get(compaction.from_turn);
  const fromIndex = positionOf(first, compaction.from_event);
  const isBehind = first !== undefined && compaction.from_event !== undefined && fromIndex < 0;
  const from = isBehind ? compaction.from_turn + 1 : compaction.from_turn;
  const to = Math.min(compaction.to_turn, turnCount - 1);
  if (from > to) return null;
  const toIndex = compaction.to_turn < turnCount ? positionOf(turns.get(to), compaction.to_event) : -1;
  const isWhole = toIndex < 0 || toIndex === (turns.get(to)?.events.length ?? 0) - 1;
  return { from, fromIndex: Math.max(0, fromIndex), to, toIndex: isWhole ? Number.POSITIVE_INFINITY : toIndex };
}

function positionOf(turn: Turn | undefined, event: string | undefined): number {
  return turn?.events.findIndex(({ id }) => id === event) ?? -1;
}

function startOf({ from, fromIndex }: EventRange): Point {
  return { turn: from, index: fromIndex };
}

function endOf({ to, toIndex }: EventRange): Point {
  return { turn: to, index: toIndex };
}

function comparePoints(a: Point, b: Point): number {
  if (a.turn !== b.turn) return a.turn - b.turn;
  return a.index === b.index ? 0 : a.index - b.index;
}
