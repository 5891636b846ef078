// The history of a branch's records, as one log of git.
import { RECORD_FOLDERS } from "../../core/conversation/branch-files.ts";
import { userError } from "../../core/errors.ts";
import { isForkMergeMessage } from "../../store/messages.ts";
import type { ConversationStore, LogEntry } from "../../store/store.ts";
import { compactionIdOfPath } from "./append.ts";

/** Reads the commits that touched records, newest first, without those of merged forks. */
export function readRecordLog(
  store: ConversationStore,
  from: string,
  paths: readonly string[] = ["compactions"],
): Promise<readonly LogEntry[]> {
  return store.readLog({ from, paths, isAside: (merge) => isForkMerge(store, merge) });
}

/** Whether a commit says that it merges a fork, and took none of its records: nothing in force can be kept out of sight so. */
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

// Commits that are no compaction's own: where history was squashed, or cut off by a shallow clone, one commit brings turns and
// any number of compactions. It tells neither when one of them was made nor by whom; their records do.

/** Finds those among the commits of a log of compactions: the ones that change turns too, or have no parent. */
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

/** The newest of the compactions in force that a commit adds, by the time in its name; undefined when it adds none. */
export function newestAdded({ added }: LogEntry, live: ReadonlySet<string>): string | undefined {
  return added
    .filter((path) => live.has(path))
    .sort()
    .at(-1);
}

/** The error for a commit that is named in place of a compaction and brings more than that. */
export function squashedCommit(word: string, { added }: LogEntry): Error {
  const ids = added.flatMap((path) => compactionIdOfPath(path) ?? []);
  return userError("squashed_commit", `${word} adds turns and several compactions: ${ids.join(", ")}.`, {
    hints: ["Name the compaction you mean; `jpg log` lists them."],
  });
}
