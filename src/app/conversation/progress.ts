// How far a long piece of work is. Loops of app report it to their workspace; the front end decides whether to show it.

/** Work that is done item by item. */
export interface Progress {
  /** What is done, and with what, e.g. `importing sessions`: the same text as long as it is the same work. */
  readonly doing: string;
  /** Items that are done. */
  readonly done: number;
  /** All items; null = unknown. */
  readonly total: number | null;
}

/** Receives how far the work is; null = it has ended. It is called often: after each item. */
export type ReportProgress = (progress: Progress | null) => void;

/** Yields items and reports how many of them are done; the work ends when the loop does, however it ends. */
export function* countProgress<Item>(
  { progress }: { readonly progress: ReportProgress },
  doing: string,
  items: readonly Item[],
): Generator<Item> {
  const total = items.length;
  try {
    for (const [done, item] of items.entries()) {
      progress({ doing, done, total });
      yield item;
    }
  } finally {
    progress(null);
  }
}

/** Like `countProgress`, for items that arrive one by one; `total` = how many there will be. */
export async function* countArrivals<Item>(
  { progress }: { readonly progress: ReportProgress },
  doing: string,
  { items, total }: { readonly items: AsyncIterable<Item>; readonly total: number },
): AsyncGenerator<Item> {
  let done = 0;
  try {
    progress({ doing, done, total });
    for await (const item of items) {
      yield item;
      done++;
      progress({ doing, done, total });
    }
  } finally {
    progress(null);
  }
}
