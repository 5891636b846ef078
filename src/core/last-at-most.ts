// Finding a place among rising offsets: which of many texts, joined to one, holds a character.

/** Gives the index of the last of rising numbers that is at most so much; 0 where none is. */
export function lastAtMost(numbers: readonly number[], most: number): number {
  let [low, high] = [0, numbers.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((numbers[middle] ?? 0) <= most) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}
