// The turns of a sequence with their object ids. Each id needs the one before it; it is worked out once, when it is first
// needed, and kept together with the number of events. Bytes are not kept: a session may be larger than memory allows.
import { type PreparedTurn, prepareTurn } from "../branch/prepared-turn.ts";
import type { KnownTurn, TurnSequence } from "./turn-sequence.ts";

export interface TurnChain {
  /** Turns of the conversation once all are stored. */
  readonly turnCount: number;
  /** Prepares a turn, after those before it whose ids are not known yet. */
  prepare(index: number): PreparedTurn;
  /** The first `count` turns, or all when there are fewer. */
  known(count: number): readonly KnownTurn[];
  /** Object ids of the first `count` turns, or of all when there are fewer. */
  oids(count: number): readonly string[];
  /** Events of all turns. */
  countEvents(): number;
}

/** Creates the chain of a sequence; nothing is prepared before it is asked for. */
export function createTurnChain(sequence: TurnSequence): TurnChain {
  const turns: KnownTurn[] = [...sequence.known];
  const prepare = (index: number): PreparedTurn => {
    while (turns.length < index) keep(turns.length);
    return keep(index);
  };
  const keep = (index: number): PreparedTurn => {
    const turn = prepareTurn(sequence.readTurn(index), turns[index - 1]?.oid);
    turns[index] = { oid: turn.oid, events: turn.events };
    return turn;
  };
  const known = (count: number): readonly KnownTurn[] => {
    const wanted = Math.min(count, sequence.turnCount);
    while (turns.length < wanted) keep(turns.length);
    return turns.slice(0, wanted);
  };
  return {
    turnCount: sequence.turnCount,
    prepare,
    known,
    oids: (count) => known(count).map((turn) => turn.oid),
    countEvents: () => known(sequence.turnCount).reduce((sum, turn) => sum + turn.events, 0),
  };
}
