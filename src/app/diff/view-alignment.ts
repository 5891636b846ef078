// Pairs the blocks of two views: by event id first, so that unchanged events need no text diff, then what stands for the
// same turns in different words. Order is kept on both sides.
import { appendAll } from "../../core/lists.ts";
import { longestRising, type Places } from "./longest-rising.ts";
import type { TextBlock } from "./view-text.ts";

/** A block of each side, or of one; never of neither. */
export interface BlockPair {
  readonly before: TextBlock | null;
  readonly after: TextBlock | null;
}

/** Pairs blocks. Reading `before` of all pairs in order gives the first list back, `after` the second. */
export function alignBlocks(before: readonly TextBlock[], after: readonly TextBlock[]): BlockPair[] {
  const pairs: BlockPair[] = [];
  let i = 0;
  let j = 0;
  for (const [left, right] of [...commonBlocks(before, after), [before.length, after.length] as const]) {
    appendAll(pairs, pairGap(before.slice(i, left), after.slice(j, right)));
    const a = before[left];
    const b = after[right];
    if (a !== undefined && b !== undefined) pairs.push({ before: a, after: b });
    i = left + 1;
    j = right + 1;
  }
  return pairs;
}

/** Places of the blocks that both sides have, as many as keep their order on both. */
function commonBlocks(before: readonly TextBlock[], after: readonly TextBlock[]): Places[] {
  const places = new Map(after.map((block, index) => [block.key, index]));
  const shared: Places[] = [];
  before.forEach((block, index) => {
    const place = places.get(block.key);
    if (place !== undefined) shared.push([index, place]);
  });
  return longestRising(shared);
}

/** Pairs what stands between two common blocks: texts made for the view are compared, all else is removed or added. */
function pairGap(before: readonly TextBlock[], after: readonly TextBlock[]): BlockPair[] {
  const made = (block: TextBlock): boolean => block.origin.kind !== "kept";
  const sameMake = before.length > 0 && before.length === after.length && before.every(made) && after.every(made);
  if (sameMake && before.every((block, index) => hasSameRole(block, after[index]))) {
    return before.map((block, index) => ({ before: block, after: after[index] ?? null }));
  }
  return [
    ...before.map((block) => ({ before: block, after: null })),
    ...after.map((block) => ({ before: null, after: block })),
  ];
}

function hasSameRole(a: TextBlock, b: TextBlock | undefined): boolean {
  return b !== undefined && a.event?.type === b.event?.type && (a.event === null || a.title === b.title);
}
