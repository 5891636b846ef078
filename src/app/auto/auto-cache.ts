// What automatic compaction remembers of a branch between calls, in a cache: when it last tried, and whether it has
// warned. A cache that may be deleted at any time: then it tries, or warns, once more.
import * as z from "zod/mini";
import { parseJson } from "../../core/json.ts";
import type { ConversationStore } from "../../store/store.ts";

/** What is remembered of a branch. */
export interface AutoCache {
  /** Complete turns there were when it last tried; null = it never did. */
  readonly triedAt: number | null;
  /** Tokens that this try left; null = unknown. */
  readonly leftTokens: number | null;
  readonly hasWarned: boolean;
}

const cachedEntries: z.ZodMiniType<[string, AutoCache][]> = z.array(
  z.tuple([
    z.string(),
    z.object({ triedAt: z.nullable(z.number()), leftTokens: z.nullable(z.number()), hasWarned: z.boolean() }),
  ]),
);

/** Branches remembered; those that changed longest ago go first. */
const MOST_ENTRIES = 2000;
const CACHE = "auto-1";
const NOTHING: AutoCache = { triedAt: null, leftTokens: null, hasWarned: false };

/** Reads what is remembered of a branch; nothing when it is damaged or was never written. */
export async function readAutoCache(store: ConversationStore, branch: string): Promise<AutoCache> {
  return readEntries(store).get(branch) ?? NOTHING;
}

/** Remembers something of a branch. A store that cannot be written to keeps no memory. */
export async function writeAutoCache(store: ConversationStore, branch: string, memory: AutoCache): Promise<void> {
  const entries = readEntries(store);
  entries.delete(branch);
  entries.set(branch, memory);
  await store.cache(CACHE).write(JSON.stringify([...entries].slice(-MOST_ENTRIES)));
}

function readEntries(store: ConversationStore): Map<string, AutoCache> {
  return new Map(parseJson(String(store.cache(CACHE).read()), cachedEntries) ?? []);
}
