// The compactions that a fork adds, one after the other as they were made, each with what the model sees differently by it; those
// that were made as one are reviewed as one.

import type { Compaction } from "../../core/conversation/compaction.ts";
import { type CompactionGroup, groupOf } from "../../core/conversation/group.ts";
import { defined } from "../../core/json.ts";
import { appendAll } from "../../core/lists.ts";
import type { LargestChanges } from "../../store/compaction-body.ts";
import { subjectOf } from "../../store/messages.ts";
import type { TreeFile } from "../../store/store.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { compactionIdOfPath } from "../branch/compaction-path.ts";
import { loadCounted } from "../branch/counted-view.ts";
import { groupPaths } from "../branch/group-paths.ts";
import { type KnownTurns, loadCompactions, loadView } from "../branch/load-view.ts";
import { largestChanges } from "../diff/largest-changes.ts";
import { readCompactionLog } from "../inspect/log.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** A compaction that the fork has and the other has not. */
export interface ReviewedCompaction {
  /** The first, of several that were made as one. */
  readonly compaction: Compaction;
  /** All that were made as one; absent = only this one. */
  readonly group?: CompactionGroup;
  readonly subject: string;
  /** The subject of the commit that brought it, where it tells something else than the record. */
  readonly message?: string;
  /** What the model sees differently by it, on the turns of the fork and under the compactions made before it. */
  readonly changes: LargestChanges;
  /** Why it has no effect on the fork; absent = it has one. */
  readonly not_applied?: string;
}

/** Each on top of those before it: the time that a record was made begins its name. */
export async function readAdded(
  workspace: Workspace,
  { fork, known }: { readonly fork: BranchTree; readonly known: KnownTurns },
  added: readonly TreeFile[],
): Promise<readonly ReviewedCompaction[]> {
  const { store } = workspace;
  const messages = added.length === 0 ? new Map<string, string>() : await readMessages(workspace, fork);
  const wanted = new Set(added.map(({ path }) => path));
  const present = fork.compactions.filter(({ path }) => !wanted.has(path));
  const { live, meter } = await loadCounted(store, fork, [], known);
  const reviewed: ReviewedCompaction[] = [];
  let { view } = await loadView(store, { ...fork, compactions: present }, { known });
  for (const files of await madeAsOne(workspace, fork, added)) {
    appendAll(present, files);
    const compactions = [...present].sort((a, b) => (a.path < b.path ? -1 : 1));
    const after = await loadView(store, { ...fork, compactions }, { known });
    const own = new Set(files.map(({ path }) => compactionIdOfPath(path)));
    const [compaction, ...others] = after.live.all.filter(({ id }) => own.has(id));
    // A damaged record changes nothing; `jpg fsck` names it.
    if (compaction !== undefined) {
      const group = groupOf(compaction, [compaction, ...others]);
      const message = messages.get(group[0].id);
      const reason = live.unapplied.find((other) => own.has(other.compaction.id))?.reason;
      reviewed.push({
        compaction: group[0],
        ...(group.length === 1 ? {} : { group }),
        subject: subjectOf(group),
        changes: largestChanges({ before: view, after: after.view, meter }, new Set(group.map(({ id }) => id))),
        ...defined({ message, not_applied: reason }),
      });
    }
    view = after.view;
  }
  return reviewed;
}

/** The files of compactions in order of time, those together that were made as one. */
async function madeAsOne(
  workspace: Workspace,
  fork: BranchTree,
  added: readonly TreeFile[],
): Promise<readonly (readonly TreeFile[])[]> {
  const sorted = [...added].sort((a, b) => (a.path < b.path ? -1 : 1));
  const together = await groupPaths(workspace, fork, await loadCompactions(workspace.store, fork));
  const seen = new Set<string>();
  return sorted.flatMap((file) => {
    if (seen.has(file.path)) return [];
    const paths = new Set(together(file.path));
    for (const path of paths) seen.add(path);
    return [sorted.filter(({ path }) => paths.has(path))];
  });
}

/** What commits say of the compactions that they brought, where it is not what the records do; the newest counts. */
async function readMessages(workspace: Workspace, fork: BranchTree): Promise<ReadonlyMap<string, string>> {
  const rows = (await readCompactionLog(workspace, fork)).toReversed();
  return new Map(
    rows.flatMap(({ kind, compaction, message }) =>
      kind === "revert" || message === undefined ? [] : [[compaction, message]],
    ),
  );
}
