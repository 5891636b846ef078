// Appending item by item: a list that is spread into the arguments of `push` stands on the stack, which overflows at some
// 100,000 items.

/** Adds items to the end of a list, however many. */
export function appendAll<Item>(list: Item[], items: Iterable<Item>): void {
  for (const item of items) list.push(item);
}
