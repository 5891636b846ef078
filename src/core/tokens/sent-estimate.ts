// What an agent's next request is sent with: all turns, read as the agent's own compactions leave them. Only turns that those
// change have to be at hand; of the others the facts are enough.
import type { Compaction } from "../compaction/compaction.ts";
import type { Turn } from "../event/turn.ts";
import { planRanges } from "../projection/covered-range.ts";
import { project } from "../projection/projection.ts";
import { estimateEvent } from "./token-estimate.ts";
import { type TurnFacts, tokensByTurn } from "./turn-facts.ts";

/** Made by an agent: its own requests show it. */
export function isAgents({ source }: Compaction): boolean {
  return source === "import";
}

/** Positions of the turns that counting needs whole, beside those that the view shows: agents change them without hiding them. */
export function turnsToCount(turnCount: number, compactions: readonly Compaction[]): ReadonlySet<number> {
  const wanted = new Set<number>();
  for (const compaction of compactions.filter(isAgents)) {
    for (const { from, to, overlays, hiddenBy } of planRanges(turnCount, [compaction])) {
      if (overlays.length === 0 || hiddenBy !== null) continue;
      for (let turn = from; turn <= to; turn += 1) wanted.add(turn);
    }
  }
  return wanted;
}

interface Sent {
  /** Of every turn, in order. */
  readonly facts: readonly TurnFacts[];
  /** Turns at hand: at least those of `turnsToCount`. */
  readonly turns: ReadonlyMap<number, Turn>;
  /** The agents' compactions. */
  readonly agents: readonly Compaction[];
}

/** Estimates the tokens of all turns under the agents' compactions. */
export function estimateSent({ facts, turns, agents }: Sent): number {
  const sizes = tokensByTurn(facts);
  const turnCount = sizes.length;
  const standIns = new Map(turns);
  let tokens = 0;
  for (const { from, to, hiddenBy } of planRanges(turnCount, agents)) {
    for (let index = from; index <= to; index += 1) {
      if (turns.has(index)) continue;
      standIns.set(index, { index, events: [] });
      if (hiddenBy === null) tokens += sizes[index] ?? 0;
    }
  }
  for (const { events } of project({ turnCount, turns: standIns, compactions: agents }).turns)
    for (const event of events) tokens += estimateEvent(event);
  return tokens;
}
