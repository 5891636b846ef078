// How many events a commit's turns hold, remembered beside the store: a cache that saves reading every turn of a conversation
// of which an import finds nothing new. Derived from commits, which never change; it may be deleted at any time.
import * as z from "zod/mini";
import { parseJson } from "../../core/json.ts";
import type { ConversationStore } from "../../store/store.ts";
import { objectId } from "../workspace/object-id.ts";

/** Events by commit id. */
export type CountCache = Map<string, number>;

const counts: z.ZodMiniType<Record<string, number>> = z.record(objectId, z.int().check(z.minimum(0)));

/** Commits remembered; the oldest entries go first. */
const CACHE = "counts";
const MOST_ENTRIES = 5000;

/** Reads what is remembered; empty when there is nothing or it cannot be read. */
export function readCountCache(store: ConversationStore): CountCache {
  // Never written, or damaged: the counts are made anew.
  return new Map(Object.entries(parseJson(String(store.cache(CACHE).read()), counts) ?? {}));
}

/** Writes what is remembered. A store that cannot be written to keeps no cache. */
export async function writeCountCache(store: ConversationStore, counts: CountCache): Promise<void> {
  const entries = Object.fromEntries([...counts].slice(-MOST_ENTRIES));
  await store.cache(CACHE).write(JSON.stringify(entries));
}
