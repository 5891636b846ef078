// How many events a commit's turns hold, remembered beside the store: a cache that saves reading every turn of a conversation
// of which an import finds nothing new. Derived from commits, which never change; it may be deleted at any time.
import type { ConversationStore } from "../../store/conversation-store.ts";

/** Events by commit id. */
export type CountCache = Map<string, number>;

/** Commits remembered; the oldest entries go first. */
const CACHE = "counts";
const MOST_ENTRIES = 5000;

/** Reads what is remembered; empty when there is nothing or it cannot be read. */
export function readCountCache(store: ConversationStore): CountCache {
  try {
    const entries: unknown = JSON.parse(String(store.cache(CACHE).read()));
    return new Map(Object.entries(entries as Record<string, unknown>).filter(isCount));
  } catch {
    return new Map(); // never written, or damaged: the counts are made anew
  }
}

/** Writes what is remembered. A store that cannot be written to keeps no cache. */
export async function writeCountCache(store: ConversationStore, counts: CountCache): Promise<void> {
  const entries = Object.fromEntries([...counts].slice(-MOST_ENTRIES));
  await store.cache(CACHE).write(JSON.stringify(entries));
}

function isCount(entry: [string, unknown]): entry is [string, number] {
  return typeof entry[1] === "number" && /^[0-9a-f]{40,64}$/.test(entry[0]);
}
