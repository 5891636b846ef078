// In which turns what a compaction keeps by name stands, where that is known: all other turns of its range are read as if it kept
// nothing. It is no part of the record, is never stored with it, and nothing in a record can say it.
import { traitsOf } from "../event/event.ts";
import type { Turn } from "../event/turn.ts";
import type { Compaction } from "./compaction.ts";

const KEPT_TURNS: unique symbol = Symbol("kept turns");

/** Turns that were read whole, by raw position, 0-based. */
export type TurnsAtHand = Pick<ReadonlyMap<number, Turn>, "get">;

/** A compaction of which it is known. */
interface Located {
  readonly [KEPT_TURNS]?: ReadonlySet<number>;
}

/** Gives the compaction, or the draft of one, with the positions (raw, 0-based) of the turns that must be looked at for what it keeps. */
export function withKeptTurns<Draft extends object>(compaction: Draft, turns: Iterable<number>): Draft {
  // A copy with another range, or another keep, must not take it along.
  return Object.defineProperty({ ...compaction }, KEPT_TURNS, { value: new Set(turns), enumerable: false });
}

/** Gives a copy that has the range and the keep of a compaction what is known of that one. */
export function withKeptTurnsOf<Draft extends object>(compaction: object, copy: Draft): Draft {
  const kept = keptTurnsOf(compaction);
  return kept === null ? copy : withKeptTurns(copy, kept);
}

/** The turns that must be looked at for what a compaction keeps; null when each of its range must be. */
export function keptTurnsOf(compaction: object): ReadonlySet<number> | null {
  return (compaction as Located)[KEPT_TURNS] ?? null;
}

/**
 * Finds the turns of a compaction's range that hold what it keeps, or nothing that can be hidden; null when one of them is not at hand.
 * `turnCount` = the length of the conversation, which may end inside the range; `known` = turns that are known to be neither.
 */
export function findKeptTurns(
  { from_turn, to_turn, keep = [] }: Pick<Compaction, "from_turn" | "to_turn" | "keep">,
  turns: TurnsAtHand,
  { turnCount, known }: { readonly turnCount: number; readonly known?: Pick<ReadonlySet<number>, "has"> },
): readonly number[] | null {
  const kept = new Set(keep);
  const found: number[] = [];
  for (let position = Math.max(from_turn, 0); position <= Math.min(to_turn, turnCount - 1); position += 1) {
    const events = turns.get(position)?.events;
    if (events === undefined && known?.has(position) === true) continue;
    if (events === undefined) return null;
    const isHidden = events.some((event) => traitsOf(event).hideable) && events.every(({ id }) => !kept.has(id));
    if (!isHidden) found.push(position);
  }
  return found;
}
