// The history of a branch's compactions, kept in a cache: git walks all commits for it, of which nearly all are turns. What was
// found at a commit holds for ever, and commits that follow it one by one only add to it.
import type { ConversationStore, LogEntry } from "../../store/store.ts";
import { sha256 } from "../workspace/object-id.ts";
import type { BranchTree } from "./branch-tree.ts";
import { readRecordLog } from "./record-log.ts";
import { openSealedCache, type SealedCache } from "./sealed-cache.ts";

/** What was read last of a branch, newest first. */
interface KnownLog {
  readonly commit: string;
  readonly entries: readonly LogEntry[];
}

/** The version is raised when a log holds something else. */
const CACHE = "compaction-log-1";
const FOLDER = "compactions";
/** After more commits than these all of it is read again. */
const MOST_NEW = 32;

/** Reads the commits that touched compactions, newest first, as `readRecordLog` does; what nothing names as it stands is not kept. */
export async function readBranchLog(
  store: ConversationStore,
  { branch, commit, revision }: Pick<BranchTree, "branch" | "commit" | "revision">,
): Promise<readonly LogEntry[]> {
  // Where history is cut off, what a commit is said to have added changes when more of it comes.
  if ((await store.cutOffCommits()).size > 0) return readRecordLog(store, commit);
  const cache = openSealedCache(store, CACHE);
  const key = sha256(branch).slice(0, 40);
  const known = readKnown(cache, key);
  if (known?.commit === commit) return known.entries;
  const added = known === null ? null : await readSince(store, commit, known.commit);
  const entries = added === null ? await readRecordLog(store, commit) : [...added, ...(known?.entries ?? [])];
  if (revision === undefined) await cache.write(JSON.stringify({ commit, entries } satisfies KnownLog), key);
  return entries;
}

/** What was sealed here was written by jpg. */
function readKnown(cache: SealedCache, key: string): KnownLog | null {
  const body = cache.read(key);
  return body === null ? null : (JSON.parse(String(body)) as KnownLog);
}

/** What the commits after an older one did to compactions; null when they do not follow it one by one, or are many. */
async function readSince(store: ConversationStore, from: string, known: string): Promise<readonly LogEntry[] | null> {
  const newest = await store.readLog({ from, limit: MOST_NEW });
  const end = newest.findIndex(({ parents }) => parents[0] === known);
  const fresh = newest.slice(0, end + 1);
  const isChain = fresh.every(
    ({ commit, parents }, at) => parents.length === 1 && commit === (at === 0 ? from : fresh[at - 1]?.parents[0]),
  );
  if (end < 0 || !isChain) return null;
  const touching: LogEntry[] = [];
  for (const entry of fresh) {
    const [before, after] = [await folderAt(store, entry.parents[0] ?? ""), await folderAt(store, entry.commit)];
    const own = (paths: readonly string[]): string[] => paths.filter((path) => path.startsWith(`${FOLDER}/`));
    if (before !== after) touching.push({ ...entry, added: own(entry.added), removed: own(entry.removed) });
  }
  return touching;
}

async function folderAt(store: ConversationStore, commit: string): Promise<string | undefined> {
  return (await store.readEntries(commit, [FOLDER])).get(FOLDER);
}
