// Commits that are no compaction's own: where history was squashed, or cut off by a shallow clone, one commit brings turns and
// any number of compactions. It tells neither when one of them was made nor by whom; their records do.
import { userError } from "../../core/errors.ts";
import type { ConversationStore, LogEntry } from "../../store/store.ts";
import { compactionIdOfPath } from "./compaction-path.ts";

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
