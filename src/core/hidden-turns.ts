// Which turns a projection has to read. Turns hidden by a summary or an omission are left out, so that a view costs
// what it shows and not what the conversation holds.
import type { Compaction } from "./compaction.ts";
import { planRanges } from "./covered-range.ts";
import { isInjected } from "./summary-injection.ts";

/**
 * Plans which turns to read for a projection: raw positions, 0-based, ascending. Left out are turns that are wholly
 * hidden, except the first one of each summary or replacement, whose time the injected turn takes.
 */
export function planReading(turnCount: number, compactions: readonly Compaction[]): readonly number[] {
  const positions: number[] = [];
  const injected = new Set<Compaction>();
  for (const { from, to, hiddenBy } of planRanges(turnCount, compactions)) {
    if (hiddenBy === null) {
      for (let turn = from; turn <= to; turn += 1) positions.push(turn);
    } else if (isInjected(hiddenBy.compaction) && !injected.has(hiddenBy.compaction)) {
      injected.add(hiddenBy.compaction);
      positions.push(from);
    }
  }
  return positions;
}
