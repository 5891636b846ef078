// The meter of turns that are at hand.
import type { Turn } from "../../src/core/conversation/event.ts";
import { createFactsMeter, type TokenMeter } from "../../src/core/model/token-meter.ts";
import { turnFacts } from "../../src/core/model/usage.ts";

/** Creates the meter of turns, in any order. */
export function createTokenMeter(turns: Iterable<Turn>): TokenMeter {
  const ordered = [...turns].sort((a, b) => a.index - b.index);
  const byPosition = new Map(ordered.map((turn) => [turn.index, turn]));
  return createFactsMeter({ facts: ordered.map((turn) => turnFacts(turn)), turns: byPosition });
}
