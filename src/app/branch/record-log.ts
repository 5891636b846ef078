// The history of a branch's own records: what a fork did stays out where the fork was merged, for none of it came along.
import { RECORD_FOLDERS } from "../../core/conversation/branch-files.ts";
import { isForkMergeMessage } from "../../store/messages.ts";
import type { ConversationStore, LogEntry } from "../../store/store.ts";

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
