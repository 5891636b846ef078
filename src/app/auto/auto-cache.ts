// What automatic compaction remembers of a branch between calls, in a cache: when it last tried, and whether it has
// warned. A cache that may be deleted at any time: then it tries, or warns, once more.
import type { ConversationStore } from "../../store/conversation-store.ts";

/** What is remembered of a branch. */
export interface AutoCache {
  /** Complete turns there were when it last tried; null = it never did. */
  readonly triedAt: number | null;
  /** Tokens that this try left; null = unknown. */
  readonly leftTokens: number | null;
  readonly hasWarned: boolean;
}

/** Branches remembered; those that changed longest ago go first. */
const MOST_ENTRIES = 2000;
const CACHE = "auto-1";
const NOTHING: AutoCache = { triedAt: null, leftTokens: null, hasWarned: false };

/** Reads what is remembered of a branch; nothing when it is damaged or was never written. */
export async function readAutoCache(store: ConversationStore, branch: string): Promise<AutoCache> {
  const entry = readEntries(store).get(branch);
  return typeof entry !== "object" || entry === null
    ? NOTHING
    : {
        triedAt: typeof entry.triedAt === "number" ? entry.triedAt : null,
        leftTokens: typeof entry.leftTokens === "number" ? entry.leftTokens : null,
        hasWarned: entry.hasWarned === true,
      };
}

/** Remembers something of a branch. A store that cannot be written to keeps no memory. */
export async function writeAutoCache(store: ConversationStore, branch: string, memory: AutoCache): Promise<void> {
  const entries = readEntries(store);
  entries.delete(branch);
  entries.set(branch, memory);
  await store.cache(CACHE).write(JSON.stringify([...entries].slice(-MOST_ENTRIES)));
}

function readEntries(store: ConversationStore): Map<string, Partial<AutoCache> | null> {
  try {
    return new Map(JSON.parse(String(store.cache(CACHE).read())) as [string, Partial<AutoCache>][]);
  } catch {
    return new Map(); // never written, or damaged
  }
}
