// The meter of turns that are at hand.
import type { Turn } from "../../src/core/event/turn.ts";
import { createFactsMeter, type TokenMeter } from "../../src/core/tokens/token-meter.ts";
import { turnFacts } from "../../src/core/tokens/turn-facts.ts";

/** Creates the meter of turns, in any order. */
export function createTokenMeter(turns: Iterable<Turn>): TokenMeter {
  const ordered = [...turns].sort((a, b) => a.index - b.index);
  const byPosition = new Map(ordered.map((turn) => [turn.index, turn]));
  return createFactsMeter({ facts: ordered.map((turn) => turnFacts(turn)), turns: byPosition });
}
