// Where a new summary must reach: two summaries may contain each other or lie apart, but never overlap in part, since a
// summary cannot be split (RFD 064, Summary Overlap Resolution).
import { rangeContains, rangesIntersect, type TurnRange } from "./turn-range.ts";

/** Whether two ranges share turns and neither contains the other. */
export function overlapsPartly(a: TurnRange, b: TurnRange): boolean {
  return rangesIntersect(a, b) && !rangeContains(a, b) && !rangeContains(b, a);
}

/**
 * Extends the range of a new summary over every existing summary that it partly overlaps, until none is left.
 * The result does not depend on the order of `summaries`: what is partly overlapped stays so or is swallowed as the range grows.
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
