// The longest rising subsequence, by patience sorting: what pairs two lists keeps its order on both sides.

/** Places of one thing in two lists, 0-based. */
export type Places = readonly [left: number, right: number];

/** Keeps as many as possible of the places, so that both sides rise. The left sides rise already. O(n log n). */
export function longestRising(places: readonly Places[]): Places[] {
  /** tops[n] = index of the place that ends the best chain of n + 1 so far. */
  const tops: number[] = [];
  const previous: number[] = [];
  const rightOf = (index: number | undefined): number => places[index ?? -1]?.[1] ?? -1;
  places.forEach(([, right], index) => {
    let low = 0;
    let high = tops.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rightOf(tops[middle]) < right) low = middle + 1;
      else high = middle;
    }
    previous.push(tops[low - 1] ?? -1);
    tops[low] = index;
  });
  const chain: Places[] = [];
  for (let at = tops.at(-1) ?? -1; at >= 0; at = previous[at] ?? -1) {
    const place = places[at];
    if (place !== undefined) chain.push(place);
  }
  return chain.reverse();
}
