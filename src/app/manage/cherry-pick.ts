// Puts a compaction of one fork onto another that has the same turns: the same record in one commit, as stock `git cherry-pick`
// of it; with it come those that were made as one with it, and their pins. What stands for turns that the other fork does not have is refused.
import type { Compaction } from "../../core/conversation/compaction.ts";
import { recordPath } from "../../core/conversation/compaction-line.ts";
import { type CompactionGroup, groupOf } from "../../core/conversation/group.ts";
import { isPin } from "../../core/conversation/marks.ts";
import { repositoryError, userError } from "../../core/errors.ts";
import type { GroupEffect } from "../../store/compaction-body.ts";
import { compactionMessage, groupMessage } from "../../store/messages.ts";
import type { LogEntry } from "../../store/store.ts";
import { commitChange } from "../branch/append-record.ts";
import { type BranchTree, loadBranchTree } from "../branch/branch-tree.ts";
import { findAddition } from "../branch/compaction-path.ts";
import { coverFacts } from "../branch/cover-facts.ts";
import { checkCovers } from "../branch/covers.ts";
import { groupPaths } from "../branch/group-paths.ts";
import { loadCompactions } from "../branch/load-view.ts";
import { boundOf } from "../branch/pins.ts";
import { readRecordLog } from "../branch/record-log.ts";
import { refreshViews } from "../branch/refresh-view.ts";
import { readMetas } from "../branch/titles.ts";
import { viewEffectOf } from "../compact/view-effect.ts";
import { resolveId } from "../names/resolve-id.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** What `cherry-pick` did. */
export interface CherryPickReport {
  readonly compaction: string;
  /** The fork that it was taken from. */
  readonly from: string;
  readonly branch: string;
  /** Null when the fork had it already. */
  readonly commit: string | null;
}

/** Puts a compaction onto a fork. Throws `unknown_id`, `damaged_record`, and `covers_differ` where the turns are others. */
export async function cherryPick(workspace: Workspace, id: string, onto: BranchTree): Promise<CherryPickReport> {
  const { store } = workspace;
  const naming = { changes: true, near: onto.branch, takesIds: true };
  const target = await resolveId(workspace, id, ["compaction"], naming);
  if (target.kind !== "compaction")
    throw userError("unknown_id", `${JSON.stringify(id)} is not a compaction.`, {
      hints: ["`jpg log FORK` lists those of a fork."],
    });
  const { branch: from, compaction } = target;
  const log = await readRecordLog(store, (await store.readBranch(from)) ?? from);
  const found = findAddition(log, compaction);
  if (found === null) throw userError("unknown_id", `${compaction} is not a compaction of ${from}.`);
  const { group, files, pins } = await readPicked(workspace, from, found);
  const appended = await commitChange(workspace, onto, async (tree) => {
    for (const record of group) await requireCovers(workspace, tree, record);
    if (tree.compactions.some(({ path }) => path === found.path)) return null;
    const effect = await viewEffectOf(store, tree, group);
    const message =
      files.length === 1
        ? compactionMessage({ compaction: group[0], ...effect })
        : groupMessage({ group, ...effect, ...pins });
    return { message, changes: files, sign: true };
  });
  if (appended !== null) await refreshViews(workspace, onto.branch, appended.parent);
  return { compaction, from, branch: onto.branch, commit: appended?.commit ?? null };
}

/** What is put onto the fork. */
interface Picked {
  readonly group: CompactionGroup;
  /** The files of the group, and of its pins. */
  readonly files: readonly { readonly path: string; readonly oid: string }[];
  readonly pins: Pick<GroupEffect, "pinned" | "unpinned">;
}

async function readPicked(
  workspace: Workspace,
  branch: string,
  { entry, path }: { readonly entry: LogEntry; readonly path: string },
): Promise<Picked> {
  const { store } = workspace;
  const there = await loadBranchTree(store, branch, entry.commit);
  const { all } = await loadCompactions(store, there);
  const record = all.find(({ timestamp, id }) => recordPath("compactions", timestamp, id) === path);
  if (record === undefined) {
    throw repositoryError("damaged_record", `${path} of ${entry.commit.slice(0, 9)} cannot be read.`, {
      hints: ["`jpg fsck` says what is wrong with it."],
    });
  }
  const paths = (await groupPaths(workspace, there, { all }))(path);
  const oids = await store.readEntries(entry.commit, paths);
  const metas = (await readMetas(workspace, there)).filter(
    ({ group }) => group !== undefined && group === record.group,
  );
  return {
    group: groupOf(record, all),
    files: [...oids].map(([file, oid]) => ({ path: file, oid })),
    pins: {
      pinned: metas.flatMap(({ pin }) => (isPin(pin) ? [boundOf(pin)] : [])),
      unpinned: metas.flatMap(({ unpin }) => (isPin(unpin) ? [boundOf(unpin)] : [])),
    },
  };
}

async function requireCovers({ store }: Workspace, tree: BranchTree, record: Compaction): Promise<void> {
  const { id, from_turn: from, to_turn: to } = record;
  const turns = tree.turnOids.length;
  const isThere = to < turns;
  if (isThere && (await checkCovers(record, coverFacts(store, tree))).matches) return;
  const why = isThere ? "has different turns there" : turns === 1 ? "has one turn" : `has ${turns} turns`;
  throw userError("covers_differ", `${id} was made for turns ${from}..${to}, but ${tree.branch} ${why}.`, {
    hints:
      from < turns
        ? [
            `\`jpg compact ${tree.branch} --from ${from} --to ${Math.min(to, turns - 1)}\` makes one for the turns it has.`,
          ]
        : ["A compaction can only be applied to a fork that has all the turns it was made for."],
  });
}
