// The turns of a session. A turn opens at what the user typed; words of the agent that introduce it belong to it as well, and
// are held back until it is there, so that a file that grows only adds events. Going back takes turns off again: those become
// a branch that was left.
import { appendAll } from "../../core/lists.ts";
import type { TurnEntry } from "./turn-entry.ts";

export interface SessionTurn {
  /** 0-based. */
  readonly index: number;
  readonly previous: SessionTurn | undefined;
  /** The entry that opens it; the source's piece of the turn begins at its line. */
  readonly opener: TurnEntry;
  /** In the order of their events. */
  readonly entries: TurnEntry[];
}

/** What was left by going back. */
export interface LeftPath {
  /** The entry from which on it was left. */
  readonly from: TurnEntry;
  /** Ordered, never empty; the first may be one that goes on in another way. */
  readonly turns: readonly SessionTurn[];
}

/** Changed by each entry. */
export interface TurnBuilder {
  /** Those that the agent goes on from. */
  readonly turns: SessionTurn[];
  /** In the order in which they were left. */
  readonly left: LeftPath[];
  /** Notes that no turn holds yet. */
  readonly head: TurnEntry[];
  /** What introduces the next request. */
  held: TurnEntry[];
}

export function noTurns(): TurnBuilder {
  return { turns: [], left: [], head: [], held: [] };
}

/** Adds an entry to the newest turn, or opens one with it. */
export function addToTurns(builder: TurnBuilder, entry: TurnEntry): void {
  const turn = builder.turns.at(-1);
  if (entry.kind === "note") (turn?.entries ?? builder.head).push(entry);
  else if (entry.kind === "context") builder.held.push(entry);
  else if (turn === undefined || entry.kind === "prompt") openTurn(builder, entry);
  else {
    appendAll(turn.entries, builder.held.splice(0));
    turn.entries.push(entry);
  }
}

function openTurn(builder: TurnBuilder, opener: TurnEntry): void {
  const { turns, head } = builder;
  const entries = [opener, ...builder.held, ...head].sort((a, b) => a.order - b.order);
  builder.held = [];
  head.length = 0;
  turns.push({ index: turns.length, previous: turns.at(-1), opener, entries });
}

/** Puts what is held back where it stands: something is made of it before the request comes. */
export function placeHeld(builder: TurnBuilder): void {
  const { turns, held } = builder;
  const turn = turns.at(-1);
  const first = turn === undefined ? held.shift() : undefined;
  if (first !== undefined) openTurn(builder, first);
  else if (turn !== undefined) appendAll(turn.entries, held.splice(0));
}

/** Takes off an entry and all behind it. Gives the entries that were taken off, whether held back or not. */
export function goBackTo(builder: TurnBuilder, from: TurnEntry): readonly TurnEntry[] {
  const { turns, left, head } = builder;
  const isLater = ({ order }: TurnEntry): boolean => order >= from.order;
  const held = builder.held.filter(isLater);
  builder.held = builder.held.filter((entry) => !isLater(entry));
  const first = turns.findIndex(({ entries }) => entries.some(isLater));
  const turn = turns[first];
  if (turn === undefined) return held;
  const off = turns.splice(first);
  left.push({ from, turns: off });
  const rest = turn.entries.filter((entry) => !isLater(entry));
  if (!isLater(turn.opener)) turns.push({ ...turn, entries: rest });
  else {
    // What stood before the request stays for the one that comes in its place.
    builder.held = [...rest.filter(({ kind }) => kind === "context"), ...builder.held];
    appendAll(
      head,
      rest.filter(({ kind }) => kind === "note"),
    );
  }
  return [...held, ...off.flatMap(({ entries }) => entries.filter(isLater))];
}

/** Gives a turn on the way to one of the same index or a later one. */
export function turnOfPath(last: SessionTurn, index: number): SessionTurn | undefined {
  let turn: SessionTurn | undefined = last;
  while (turn !== undefined && turn.index > index) turn = turn.previous;
  return turn;
}
