// Where a range bound lies in a conversation: the first covered turn or event for `--from`, the last one for `--to`.
import type { Compaction } from "../compaction/compaction.ts";
import type { Event } from "../event/event.ts";
import type { Turn } from "../event/turn.ts";
import type { RangeBound } from "./range-bound.ts";
import { standsForTurns } from "./summary-extent.ts";

/** What bounds are resolved against. */
export interface BoundFacts {
  readonly turnCount: number;
  /** Start of each turn, RFC 3339; may be empty unless needsTurnTimes(request). */
  readonly turnTimes: readonly string[];
  /** The live compactions of the branch. */
  readonly compactions: readonly Compaction[];
  /** Turns that were read; must hold those of turnsForBounds (bound-resolution.ts). */
  readonly turns: ReadonlyMap<number, Turn>;
  /** The present, RFC 3339. */
  readonly now: string;
}

/** A turn, or an event of it. */
export interface BoundPosition {
  readonly turn: number;
  readonly event?: string;
}

/** Resolves the first covered position; null when no turn is late enough. May lie past the end. */
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
      return furthestEnd(facts);
    case "last_summary":
      return furthestEnd(amongSummaries(facts));
    default:
      return bound satisfies never;
  }
}

/** The same facts with no other compactions than those that stand for turns. */
export function amongSummaries<Facts extends Pick<BoundFacts, "compactions">>(facts: Facts): Facts {
  return { ...facts, compactions: facts.compactions.filter((compaction) => standsForTurns(compaction)) };
}

/** Finds where the live compaction that reaches furthest ends; no event = with the whole turn. Null when there is none. */
export function furthestEnd({ compactions, turnCount, turns }: BoundFacts): BoundPosition | null {
  const ends = compactions
    .filter(({ from_turn, to_turn }) => from_turn <= to_turn && from_turn < turnCount)
    .map((compaction): BoundPosition => {
      const turn = Math.min(compaction.to_turn, turnCount - 1);
      const cut = compaction.to_turn < turnCount ? compaction.to_event : undefined;
      // A last event that the turn does not hold means that the turn was cut short before it.
      const after = cut === undefined ? [] : eventsFrom(turns.get(turn), cut);
      const isWhole = after !== null && after.length <= 1;
      return cut === undefined || isWhole ? { turn } : { turn, event: cut };
    });
  const furthest = Math.max(...ends.map(({ turn }) => turn));
  const atFurthest = ends.filter(({ turn }) => turn === furthest);
  return atFurthest.find(({ event }) => event === undefined) ?? latestOf(atFurthest, turns.get(furthest));
}

/** The cut that lies latest in the turn; any of them when the turn was not read. */
function latestOf(ends: readonly BoundPosition[], turn: Turn | undefined): BoundPosition | null {
  const indexOf = (end: BoundPosition): number => turn?.events.findIndex(({ id }) => id === end.event) ?? -1;
  return ends.reduce<BoundPosition | null>(
    (best, end) => (best === null || indexOf(end) > indexOf(best) ? end : best),
    null,
  );
}

/** One past the furthest compacted turn; when the compaction ended inside the turn, that turn from the next event on. */
function afterLast(facts: BoundFacts): BoundPosition {
  const end = furthestEnd(facts);
  if (end === null) return { turn: 0 };
  if (end.event === undefined) return { turn: end.turn + 1 };
  const events = facts.turns.get(end.turn)?.events ?? [];
  const next = events[events.findIndex(({ id }) => id === end.event) + 1];
  return { turn: end.turn, ...(next === undefined ? {} : { event: next.id }) };
}

function instants({ turnTimes }: BoundFacts): readonly number[] {
  return turnTimes.map((time) => Date.parse(time));
}

/** The events of a turn from one on; empty when the turn does not hold it, null when the turn was not read. */
function eventsFrom(turn: Turn | undefined, id: string): readonly Event[] | null {
  if (turn === undefined) return null;
  const index = turn.events.findIndex((event) => event.id === id);
  return index < 0 ? [] : turn.events.slice(index);
}
