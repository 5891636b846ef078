// Reads the history of a branch's records from git's log.
import { RECORD_FOLDERS } from "../../core/conversation/branch-files.ts";
import { userError } from "../../core/errors.ts";
import { isForkMergeMessage } from "../../store/messages.ts";
import type { ConversationStore, LogEntry } from "../../store/store.ts";
import { compactionIdOfPath } from "./append.ts";

/** Reads the commits that changed records, newest first, without those of merged forks. */
export function readRecordLog(
  store: ConversationStore,
  from: string,
  paths: readonly string[] = ["compactions"],
): Promise<readonly LogEntry[]> {
  return store.readLog({ from, paths, firstParentOnly: (merge) => isForkMerge(store, merge) });
}

/**
 * Returns whether a commit's message says that it merges a fork and it took none of the fork's records. Without that check, such a
 * message could hide live records from the log.
 */
export async function isForkMerge(
  store: ConversationStore,
  { commit, message, parents: [first, second] }: Pick<LogEntry, "commit" | "message" | "parents">,
): Promise<boolean> {
  if (first === undefined || second === undefined || !isForkMergeMessage(message)) return false;
  const [before, after] = [
    await store.readEntries(first, RECORD_FOLDERS),
    await store.readEntries(commit, RECORD_FOLDERS),
  ];
  return RECORD_FOLDERS.every((folder) => before.get(folder) === after.get(folder));
}

// Squashed commits: where history was squashed or cut off by a shallow clone, one commit adds turns and any number of compactions.
// Its date and author are not those of the compactions; their records have them.

/** Finds the squashed commits of a log of compactions: those that also change turns, or have no parent. */
export async function findSquashed(
  store: ConversationStore,
  entries: readonly Pick<LogEntry, "commit" | "parents">[],
): Promise<ReadonlySet<string>> {
  const turnsAt = async (commit: string): Promise<string | undefined> =>
    (await store.readEntries(commit, ["turns"])).get("turns");
  const squashed = new Set<string>();
  for (const { commit, parents } of entries) {
    const [parent] = parents;
    if (parent === undefined || (await turnsAt(parent)) !== (await turnsAt(commit))) squashed.add(commit);
  }
  return squashed;
}

/** Returns the newest live compaction that a commit adds, by the time in its name; undefined when it adds none. */
function newestAdded({ added }: LogEntry, live: ReadonlySet<string>): string | undefined {
  return added
    .filter((path) => live.has(path))
    .sort()
    .at(-1);
}

/** Finds the newest live compaction in commit order; `entries` newest first, `live` = the paths of live records. */
export function newestLive(
  entries: readonly LogEntry[],
  live: ReadonlySet<string>,
): { readonly entry: LogEntry; readonly path: string } | null {
  for (const entry of entries) {
    const path = newestAdded(entry, live);
    if (path !== undefined) return { entry, path };
  }
  return null;
}

/** Creates the error for a squashed commit that is named in place of a compaction. */
export function squashedCommit(word: string, { added }: LogEntry): Error {
  const ids = added.flatMap((path) => compactionIdOfPath(path) ?? []);
  return userError("squashed_commit", `${word} adds turns and several compactions: ${ids.join(", ")}.`, {
    hints: ["Name the compaction you mean; `jpg log` lists them."],
  });
}
