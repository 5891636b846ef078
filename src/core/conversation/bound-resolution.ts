// Resolves the range that a person asked for into turn positions, once, when a compaction is made. An empty range is a value,
// not an error.
import { userError } from "../errors.ts";
import type { Compaction } from "./compaction.ts";
import { type CutRange, type Event, isMessage, type Turn, traitsOf } from "./event.ts";
import { isNamedBy } from "./name.ts";
import { boundAt, type RangeBound } from "./range-bound.ts";
import { replacesTurns } from "./range-location.ts";
import { estimateEvent } from "./token-estimate.ts";
import { lastSafeCut } from "./tool-pairing.ts";

export interface BoundFacts {
  readonly turnCount: number;
  /** Start of each turn, RFC 3339; may be empty unless needsTurnTimes(request). */
  readonly turnTimes: readonly string[];
  readonly compactions: readonly Compaction[];
  /** The turns, by position; may be empty where bounds are positions and times. */
  readonly turns: ReadonlyMap<number, Turn>;
  /** The present, RFC 3339. */
  readonly now: string;
}

/** A turn, or an event of it. */
interface BoundPosition {
  readonly turn: number;
  readonly event?: string;
}

/** Resolves the first covered position; null when no turn is late enough. May be past the end. */
export function resolveFrom(bound: RangeBound, facts: BoundFacts): BoundPosition | null {
  switch (bound.type) {
    case "turn":
      return { turn: bound.turn };
    case "event":
      return { turn: bound.turn, event: bound.event };
    case "before_last":
      return { turn: Math.max(0, facts.turnCount - 1 - bound.turns) };
    case "ago": {
      const turn = instants(facts).findIndex((instant) => instant >= Date.parse(facts.now) - bound.ms);
      return turn < 0 ? null : { turn };
    }
    case "time": {
      const turn = instants(facts).findIndex((instant) => instant >= bound.fromMs);
      return turn < 0 ? null : { turn };
    }
    case "last":
      return afterLast(facts);
    case "last_summary":
      return afterLast(amongSummaries(facts));
    default:
      return bound satisfies never;
  }
}

/** Resolves the last covered position, clamped to the newest turn; null when no turn is early enough. */
export function resolveTo(bound: RangeBound, facts: BoundFacts): BoundPosition | null {
  const newest = facts.turnCount - 1;
  switch (bound.type) {
    case "turn":
      return { turn: Math.min(bound.turn, newest) };
    case "event":
      return bound.turn > newest ? { turn: newest } : { turn: bound.turn, event: bound.event };
    case "before_last": {
      const turn = newest - bound.turns;
      return turn < 0 ? null : { turn };
    }
    case "ago": {
      const turn = instants(facts).findLastIndex((instant) => instant < Date.parse(facts.now) - bound.ms);
      return turn < 0 ? null : { turn };
    }
    case "time": {
      const turn = instants(facts).findLastIndex((instant) => instant < bound.untilMs);
      return turn < 0 ? null : { turn };
    }
    case "last":
      return furthestCompactedEnd(facts);
    case "last_summary":
      return furthestCompactedEnd(amongSummaries(facts));
    default:
      return bound satisfies never;
  }
}

/** The same facts with only those compactions that replace turns. */
function amongSummaries<Facts extends Pick<BoundFacts, "compactions">>(facts: Facts): Facts {
  return { ...facts, compactions: facts.compactions.filter((compaction) => replacesTurns(compaction)) };
}

/** Finds where the live compaction that reaches furthest ends; no event = with the whole turn. Null when there is none. */
export function furthestCompactedEnd({ compactions, turnCount, turns }: BoundFacts): BoundPosition | null {
  const ends = compactions
    .filter(({ from_turn, to_turn }) => from_turn <= to_turn && from_turn < turnCount)
    .map((compaction): BoundPosition => {
      const turn = Math.min(compaction.to_turn, turnCount - 1);
      const cut = compaction.to_turn < turnCount ? compaction.to_event : undefined;
      // When the turn lacks the compaction's last event, it was cut short before that event.
      const after = cut === undefined ? [] : eventsFrom(turns.get(turn), cut);
      const isWhole = after !== null && after.length <= 1;
      return cut === undefined || isWhole ? { turn } : { turn, event: cut };
    });
  const furthest = Math.max(...ends.map(({ turn }) => turn));
  const atFurthest = ends.filter(({ turn }) => turn === furthest);
  return atFurthest.find(({ event }) => event === undefined) ?? latestOf(atFurthest, turns.get(furthest));
}

/** The latest of several cuts of one turn; any of them when the turn was not read. */
function latestOf(ends: readonly BoundPosition[], turn: Turn | undefined): BoundPosition | null {
  const indexOf = (end: BoundPosition): number => turn?.events.findIndex(({ id }) => id === end.event) ?? -1;
  return ends.reduce<BoundPosition | null>(
    (best, end) => (best === null || indexOf(end) > indexOf(best) ? end : best),
    null,
  );
}

/** One past the furthest compacted turn; when the compaction ended inside a turn, the next event of that turn. */
function afterLast(facts: BoundFacts): BoundPosition {
  const end = furthestCompactedEnd(facts);
  if (end === null) return { turn: 0 };
  if (end.event === undefined) return { turn: end.turn + 1 };
  const events = facts.turns.get(end.turn)?.events ?? [];
  const next = events[events.findIndex(({ id }) => id === end.event) + 1];
  return { turn: end.turn, event: next?.id };
}

function instants({ turnTimes }: BoundFacts): readonly number[] {
  return turnTimes.map((time) => Date.parse(time));
}

/** The events of a turn from one on; empty when the turn does not have it, null when the turn was not read. */
function eventsFrom(turn: Turn | undefined, id: string): readonly Event[] | null {
  if (turn === undefined) return null;
  const index = turn.events.findIndex((event) => event.id === id);
  return index < 0 ? [] : turn.events.slice(index);
}

/** Turns left alone when neither `--to` nor `--keep` is given and nothing is configured. */
export const DEFAULT_KEEP_LAST = 3;
/**
 * Tool calls left alone at the end of a conversation that is too short to leave turns alone: agents' sessions often are one or
 * two huge turns.
 */
export const KEEP_CALLS = 20;

/** The range flags of one call. */
export interface RangeRequest {
  /** `--from`; absent = turn 0. `--from` without a value is `{type: "last"}`. */
  readonly from?: RangeBound;
  /** `--to`; excludes `keep`. */
  readonly to?: RangeBound;
  /** `--keep`: turns to leave alone at the end, 0 or more. */
  readonly keep?: number;
  /** Configured `keep_last`, used when neither `to` nor `keep` is given; default 3. */
  readonly keepLast?: number;
  /** Configured newest messages to leave alone, in whole turns, on the same condition as `keepLast`; default 0. */
  readonly protectedMessages?: number;
  /** Newest tokens to leave alone (estimated over raw events), wherever else the range ends. */
  readonly protectTokens?: number;
}

/** An empty plan or range; `nothing` says why, for people. */
export interface Nothing {
  readonly nothing: string;
  /** What to type where something can be done about it. */
  readonly hints?: readonly string[];
}

export function isNothing(value: object): value is Nothing {
  return Object.hasOwn(value, "nothing");
}

/** Whether resolving these bounds needs the times of turns. */
export function needsTurnTimes({ from, to }: Pick<RangeRequest, "from" | "to">): boolean {
  return [from, to].some((bound) => bound?.type === "ago" || bound?.type === "time");
}

/** Replaces relative bounds by the positions that they name now, so that adding a compaction does not move them. */
export function freezeBounds(
  { from, to }: Pick<RangeRequest, "from" | "to">,
  facts: BoundFacts,
): Pick<RangeRequest, "from" | "to"> {
  const start = from === undefined ? null : resolveFrom(from, facts);
  const end = to === undefined ? null : resolveTo(to, facts);
  return {
    ...(start === null ? {} : { from: boundAt(start.turn, start.event) }),
    ...(end === null ? {} : { to: boundAt(end.turn, end.event) }),
  };
}

/**
 * Resolves a request into turn positions, both inclusive and within the conversation. Event ids in the result are as the person
 * wrote them. Throws `contradictory_flags` for `--to` with `--keep`, and `bad_keep`.
 */
export function resolveBounds(request: RangeRequest, facts: BoundFacts): CutRange | Nothing {
  checkFlags(request);
  const { turnCount } = facts;
  if (turnCount === 0) return { nothing: "the conversation has no turns" };
  const aroundLast = explainLast(request, facts);
  if (aroundLast !== null) return aroundLast;
  const start = request.from === undefined ? { turn: 0 } : resolveFrom(request.from, facts);
  if (start === null || start.turn >= turnCount) {
    return { nothing: `the range begins after the last turn (${turnCount - 1})` };
  }
  const end = resolveEnd(request, facts);
  if (isNothing(end)) return end;
  if (end.turn < start.turn) {
    const [begins, ends] = [isLast(request.from) ? AFTER_LAST : "", isLast(request.to) ? WITH_LAST : ""];
    return { nothing: `the range begins with turn ${start.turn}${begins} but ends with turn ${end.turn}${ends}` };
  }
  return {
    from: start.turn,
    to: end.turn,
    fromEvent: start.event,
    toEvent: end.event,
  };
}

const AFTER_LAST = ", after the last compaction,";
const WITH_LAST = ", as the last compaction does";

function isLast(bound: RangeBound | undefined): boolean {
  return bound?.type === "last" || bound?.type === "last_summary";
}

/** Explains an empty range with a bound `last`: no compaction, nothing after it, or both bounds at its end; else null. */
function explainLast({ from, to }: RangeRequest, facts: BoundFacts): Nothing | null {
  if (to !== undefined && isLast(to) && resolveTo(to, facts) === null) return NO_LAST;
  if (from === undefined || !isLast(from)) return null;
  if (isLast(to))
    return { nothing: "the range begins after the last compaction, with which it ends", hints: [ANY_END] };
  const start = resolveFrom(from, facts);
  if (start === null || start.turn < facts.turnCount) return null;
  return {
    nothing: `the last compaction reaches the last turn (${facts.turnCount - 1}), so nothing comes after it`,
    hints: ["`jpg log` lists the compactions; a range without --from begins with turn 0."],
  };
}

const ANY_END = "`--to N` ends with turn N; `jpg log` lists the compactions.";
const NO_LAST: Nothing = {
  nothing: "no compaction is in force yet, and the range is to end where the last one does",
  hints: [ANY_END],
};

function resolveEnd(request: RangeRequest, facts: BoundFacts): BoundPosition | Nothing {
  const end = request.to === undefined ? beforeNewestTurns(request, facts) : resolveTo(request.to, facts);
  if (end === null) return { nothing: "the range ends before the first turn" };
  const { protectTokens } = request;
  if (isNothing(end) || protectTokens === undefined) return end;
  const before = beforeNewestTokens(facts, protectTokens);
  if (before !== null) return earlierOf(end, before, facts);
  return { nothing: `the newest ${protectTokens} tokens are left alone, and there is nothing before them` };
}

function beforeNewestTurns(request: RangeRequest, facts: BoundFacts): BoundPosition | Nothing {
  const newest = facts.turnCount - 1;
  const keep = request.keep ?? Math.max(request.keepLast ?? DEFAULT_KEEP_LAST, protectedTurns(request, facts));
  if (keep <= newest) return { turn: newest - keep };
  if (!endsByCalls(request, facts))
    return {
      nothing: `the newest ${keep === 1 ? "turn is" : `${keep} turns are`} kept and there ${newest === 0 ? "is" : "are"} ${newest + 1}`,
    };
  return (
    beforeNewestCalls(facts) ?? {
      nothing: `the conversation has no more than ${keep} turns and ${KEEP_CALLS} tool calls`,
      hints: ["`jpg compact --keep 0` includes the newest turns; `--profile heavy` replaces them with a summary."],
    }
  );
}

function earlierOf(a: BoundPosition, b: BoundPosition, { turns }: BoundFacts): BoundPosition {
  const indexOf = ({ turn, event }: BoundPosition): number => {
    const found =
      event === undefined ? -1 : (turns.get(turn)?.events.findIndex(({ id }) => isNamedBy(id, event)) ?? -1);
    return found < 0 ? Number.POSITIVE_INFINITY : found;
  };
  if (a.turn !== b.turn) return a.turn < b.turn ? a : b;
  return indexOf(b) < indexOf(a) ? b : a;
}

/** How many of the newest turns hold the protected messages. */
function protectedTurns({ protectedMessages = 0 }: RangeRequest, { turnCount, turns }: BoundFacts): number {
  let left = protectedMessages;
  let count = 0;
  for (; left > 0 && count < turnCount; count++) {
    left -= turns.get(turnCount - 1 - count)?.events.filter((event) => isMessage(event)).length ?? 0;
  }
  return count;
}

/** Whether the conversation is too short for the configured keep_last, so that tool calls decide. */
function endsByCalls(request: RangeRequest, { turnCount }: Pick<BoundFacts, "turnCount">): boolean {
  const isOpen = request.to === undefined && request.keep === undefined;
  return isOpen && turnCount > 0 && turnCount <= (request.keepLast ?? DEFAULT_KEEP_LAST);
}

/** Finds the last position before the newest tokens where a range may end; null when there is nothing before them. */
function beforeNewestTokens({ turnCount, turns }: BoundFacts, tokens: number): BoundPosition | null {
  let left = tokens;
  for (let turn = turnCount - 1; turn >= 0; turn--) {
    const events = turns.get(turn)?.events ?? [];
    const first = events.findLastIndex((event) => {
      left -= estimateEvent(event);
      return left <= 0;
    });
    if (first >= 0) return endBefore(events, first, turn);
  }
  return null;
}

/** The last place before an event where a range may end: in the event's turn when something visible precedes it, else the turn before. */
function endBefore(events: readonly Event[], index: number, turn: number): BoundPosition | null {
  const cut = lastSafeCut(events, index - 1);
  const event = events[cut];
  const isSeen = events.slice(0, cut + 1).some((item) => traitsOf(item).providerVisible);
  if (event !== undefined && isSeen) return { turn, event: event.id };
  return turn === 0 ? null : { turn: turn - 1 };
}

/** Finds the last position before the newest 20 tool calls where a range may end; null when there are no more calls than that. */
function beforeNewestCalls({ turnCount, turns }: BoundFacts): BoundPosition | null {
  let left = KEEP_CALLS;
  for (let turn = turnCount - 1; turn >= 0; turn--) {
    const events = turns.get(turn)?.events ?? [];
    const calls = [...events.keys()].filter((index) => events[index]?.type === "tool_call_request");
    if (calls.length < left) {
      left -= calls.length;
      continue;
    }
    const cut = lastSafeCut(events, (calls.at(-left) ?? 0) - 1);
    const event = events[cut];
    if (event !== undefined) return { turn, event: event.id };
    return turn === 0 ? null : { turn: turn - 1 };
  }
  return null;
}

function checkFlags({ to, keep }: RangeRequest): void {
  if (to !== undefined && keep !== undefined) {
    throw userError("contradictory_flags", "--to and --keep both say where the range ends: expected one of them.", {
      hints: ["Use --keep N to leave the last N turns alone, or --to BOUND to end at a position."],
    });
  }
  if (keep !== undefined && (!Number.isSafeInteger(keep) || keep < 0)) {
    throw userError("bad_keep", `--keep ${keep} is not possible: expected a whole number, 0 or more.`);
  }
}
