// What `--at` names: a commit, which is that commit's tree; or a turn, which is the turns up to it as the tip reads them.
import { conversationOf, isTurnNumber } from "../../core/conversation/name.ts";
import { userError } from "../../core/errors.ts";
import type { ConversationStore } from "../../store/store.ts";
import { type BranchTree, loadBranchTree } from "../branch/branch-tree.ts";
import { compactionIdOfPath } from "../branch/compaction-path.ts";
import { planFirstTurns } from "../branch/fork-start.ts";
import { refuseSplice } from "../branch/spliced-turns.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { resolveBranchRevision } from "./revision.ts";

/** The tree at a commit, or with the turns up to one (`--at COMMIT|TURN`). Throws `unknown_revision`, `spliced_turns`. */
export async function treeAt(workspace: Workspace, tree: BranchTree, at: string): Promise<BranchTree> {
  const there = await findTree(workspace, tree, at);
  await refuseSplice(workspace, there);
  return there;
}

async function findTree(workspace: Workspace, tree: BranchTree, at: string): Promise<BranchTree> {
  // Digits alone are a turn, never the beginning of a commit: `resolveBranchRevision` finds none for them.
  if (isTurnNumber(at) && Number(at) < tree.turnOids.length) return treeAtTurn(workspace.store, tree, Number(at));
  const found = await resolveBranchRevision(workspace, at, {
    conversation: conversationOf(tree.branch),
    bareForks: true,
  });
  const there = found === null ? null : await loadBranchTree(workspace.store, tree.branch, found.commit);
  if (there === null || there.header.id !== tree.header.id) {
    throw userError(
      "unknown_revision",
      `${at} is neither a turn (0..${tree.turnOids.length - 1}) nor a commit of ${tree.branch}.`,
      { hints: ["`jpg log` lists the commits of compactions, `jpg git log` all commits."] },
    );
  }
  return { ...there, revision: at };
}

/** The first turns of a tree, read as a fork there reads them: a compaction that reaches past them is clamped by projection. */
export async function treeAtTurn(store: ConversationStore, tree: BranchTree, turn: number): Promise<BranchTree> {
  if (turn >= tree.turnOids.length - 1) return tree;
  const { compactions, clamped } = await planFirstTurns(store, tree, turn + 1);
  const stay = [...compactions, ...clamped.map(({ id }) => id)];
  return {
    ...tree,
    turnOids: tree.turnOids.slice(0, turn + 1),
    compactions: tree.compactions.filter((file) => stay.includes(compactionIdOfPath(file.path) ?? "")),
    atTurn: turn,
  };
}
