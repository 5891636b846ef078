// A range of events: turn positions with positions inside the end turns, found from the event ids of a resolved range and moved
// to where a range may begin and end (tool-pairing.ts).
import { type JpgError, userError } from "../errors.ts";
import type { Compaction } from "./compaction.ts";
import {
  type CutRange,
  type Event,
  rangeContains,
  rangesIntersect,
  type Turn,
  type TurnRange,
  traitsOf,
} from "./event.ts";
import { findNamed } from "./name.ts";
import { firstSafeStart, lastSafeCut, unfinishedLoop } from "./tool-pairing.ts";

/** Positions of events, all 0-based and inclusive. `Infinity` as `toIndex` = the whole end turn. */
export interface EventRange {
  readonly from: number;
  /** Position of the first event in turn `from`; 0 = the whole turn. */
  readonly fromIndex: number;
  readonly to: number;
  /** Position of the last event in turn `to`; `Infinity` unless the range is cut there. */
  readonly toIndex: number;
}

/** The turns a range is located in. */
interface LocationFacts {
  readonly turnCount: number;
  readonly turns: ReadonlyMap<number, Turn>;
  /** Whether requests are changed too (summaries, omissions, attachments): then an unfinished loop keeps its request. */
  readonly touchesRequests: boolean;
  /** Whether the range may reach into an unfinished loop: the caller protects the newest events in another way. */
  readonly intoLoop?: boolean;
}

/**
 * Locates a resolved range: finds its events by id or unique prefix, ends it before an unfinished tool loop of the newest turn
 * unless `intoLoop`, and moves its ends to safe places. Null when it contains nothing that a model is sent. Throws
 * `unknown_event` and `ambiguous_event`.
 */
export function locateRange(range: CutRange, facts: LocationFacts): EventRange | null {
  const { turns } = facts;
  const first = eventsOf(turns, range.from);
  const last = eventsOf(turns, range.to);
  const wantedStart = range.fromEvent === undefined ? 0 : findEvent(first, range.fromEvent, range.from);
  const wantedEnd = range.toEvent === undefined ? Number.POSITIVE_INFINITY : findEvent(last, range.toEvent, range.to);
  const start = firstSafeStart(first, wantedStart);
  const isFree = facts.intoLoop === true || range.to !== facts.turnCount - 1;
  const limit = isFree ? Number.POSITIVE_INFINITY : loopLimit(last, facts.touchesRequests);
  const end = lastSafeCut(last, Math.min(wantedEnd, limit));
  return trimRange({ from: range.from, fromIndex: start, to: range.to, toIndex: wholeIfLast(last, end) }, turns);
}

/** Whether an event, by turn and position, is in the range. */
export function isInRange(range: EventRange, turn: number, index: number): boolean {
  if (turn < range.from || turn > range.to) return false;
  if (turn === range.from && index < range.fromIndex) return false;
  return turn !== range.to || index <= range.toIndex;
}

/** Returns the range with event ids where it is cut. In the branch's newest turn the last event is always named. */
export function cutRangeOf(range: EventRange, { turnCount, turns }: Omit<LocationFacts, "touchesRequests">): CutRange {
  const fromEvent = range.fromIndex === 0 ? undefined : eventsOf(turns, range.from)[range.fromIndex]?.id;
  const last = eventsOf(turns, range.to);
  const isNamed = range.toIndex !== Number.POSITIVE_INFINITY || range.to === turnCount - 1;
  const toEvent = isNamed ? last[Math.min(range.toIndex, last.length - 1)]?.id : undefined;
  return {
    from: range.from,
    fromEvent,
    to: range.to,
    toEvent,
  };
}

/** Drops a cut end turn when the part of it in the range holds nothing that a model is sent. */
function trimRange(range: EventRange, turns: ReadonlyMap<number, Turn>): EventRange | null {
  let { from, fromIndex, to, toIndex } = range;
  if (from < to && fromIndex > 0 && !holdsVisible({ from, fromIndex, to, toIndex }, from, turns)) {
    from += 1;
    fromIndex = 0;
  }
  if (from < to && toIndex !== Number.POSITIVE_INFINITY && !holdsVisible({ from, fromIndex, to, toIndex }, to, turns)) {
    to -= 1;
    toIndex = Number.POSITIVE_INFINITY;
  }
  const trimmed = { from, fromIndex, to, toIndex };
  return from < to || holdsVisible(trimmed, from, turns) ? trimmed : null;
}

function holdsVisible(range: EventRange, turn: number, turns: ReadonlyMap<number, Turn>): boolean {
  return eventsOf(turns, turn).some((event, index) => isInRange(range, turn, index) && traitsOf(event).providerVisible);
}

/** The last position the range may reach in the newest turn. */
function loopLimit(events: readonly Event[], touchesRequests: boolean): number {
  const loop = unfinishedLoop(events);
  if (loop === null) return Number.POSITIVE_INFINITY;
  return touchesRequests || events[loop]?.type !== "chat_request" ? loop - 1 : loop;
}

function wholeIfLast(events: readonly Event[], index: number): number {
  return index >= events.length - 1 ? Number.POSITIVE_INFINITY : index;
}

function eventsOf(turns: ReadonlyMap<number, Turn>, turn: number): readonly Event[] {
  return turns.get(turn)?.events ?? [];
}

/**
 * Finds an event of a turn by its id or a unique prefix of it; returns its position, 0-based. Throws `unknown_event`,
 * `ambiguous_event`.
 */
export function findEvent(events: readonly Event[], wanted: string, turn: number): number {
  const matches = findNamed(events, wanted, ({ id }) => id);
  const [only] = matches;
  if (only !== undefined && (matches.length === 1 || only.id === wanted)) return events.indexOf(only);
  throw unclearEvent(
    wanted,
    turn,
    matches.map(({ id }) => id),
  );
}

function unclearEvent(wanted: string, turn: number, matches: readonly string[]): JpgError {
  const hints = [`To list the events of the turn: jpg print ${turn} --format jsonl`];
  if (matches.length === 0) {
    return userError(
      "unknown_event",
      `Turn ${turn} has no event "${wanted}": expected an event id or a unique prefix of one.`,
      {
        hints,
      },
    );
  }
  return userError(
    "ambiguous_event",
    `"${wanted}" fits ${matches.length} events of turn ${turn}: ${matches.slice(0, 5).join(", ")}.`,
    {
      data: { matches },
      hints,
    },
  );
}

/** A place between events: turn and position in it. */
interface Point {
  readonly turn: number;
  readonly index: number;
}

/** Whether a compaction replaces turns by a text or a list, so that a new summary may not cut through it. */
export function replacesTurns(compaction: Compaction): boolean {
  return compaction.summary !== undefined || compaction.replacement !== undefined;
}

/** Extends the range of a new summary over every live summary or replacement that it partly overlaps, repeatedly. */
export function extendEventRange(
  range: EventRange,
  compactions: readonly Compaction[],
  facts: { readonly turnCount: number; readonly turns: ReadonlyMap<number, Turn> },
): EventRange {
  const summaries = compactions
    .filter((compaction) => replacesTurns(compaction))
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
 * The events a compaction covers, clamped to the conversation; null for none. A bound in a turn that was not read counts as the
 * whole turn. A first event that its turn lacks is past the turn's end.
 */
export function eventRangeOf(
  compaction: Compaction,
  { turnCount, turns }: { readonly turnCount: number; readonly turns: ReadonlyMap<number, Turn> },
): EventRange | null {
  const first = turns.get(compaction.from_turn);
  const fromIndex = positionOf(first, compaction.from_event);
  const isBeyondTurn = first !== undefined && compaction.from_event !== undefined && fromIndex < 0;
  const from = isBeyondTurn ? compaction.from_turn + 1 : compaction.from_turn;
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

/** Whether two ranges share turns and neither contains the other. */
export function overlapsPartly(a: TurnRange, b: TurnRange): boolean {
  return rangesIntersect(a, b) && !rangeContains(a, b) && !rangeContains(b, a);
}

/**
 * Extends the range of a new summary over every existing summary that it partly overlaps, until none is left. The result does
 * not depend on the order of `summaries`: an overlap stays partial or is contained as the range grows.
 */
export function extendSummaryRange(range: TurnRange, summaries: readonly TurnRange[]): TurnRange {
  let { from, to } = range;
  for (;;) {
    const current = { from, to };
    const overlapped = summaries.filter((summary) => overlapsPartly(current, summary));
    if (overlapped.length === 0) return current;
    for (const summary of overlapped) {
      from = Math.min(from, summary.from);
      to = Math.max(to, summary.to);
    }
  }
}
