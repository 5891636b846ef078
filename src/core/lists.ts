// Appending to long lists, and searching sorted numbers.

/** Appends items to a list, however many (`push(...items)` is limited by the stack). */
export function appendAll<Item>(list: Item[], items: Iterable<Item>): void {
  for (const item of items) list.push(item);
}

/** Returns the index of the last of ascending numbers that is at most `most`; 0 where none is. */
export function lastAtMost(numbers: readonly number[], most: number): number {
  let [low, high] = [0, numbers.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((numbers[middle] ?? 0) <= most) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}
