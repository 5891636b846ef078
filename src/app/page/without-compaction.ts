// A branch as if a compaction had been taken back: nothing is written.
import { userError } from "../../core/errors.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { compactionIdOfPath } from "../branch/compaction-path.ts";
import { groupPaths } from "../branch/group-paths.ts";
import { loadCompactions } from "../branch/load-view.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** Gives the tree without a compaction, and without what was made as one with it. Throws `unknown_compaction`. */
export async function withoutCompaction(workspace: Workspace, tree: BranchTree, id: string): Promise<BranchTree> {
  const file = tree.compactions.find(({ path }) => compactionIdOfPath(path) === id);
  if (file === undefined) {
    throw userError("unknown_compaction", `${id} is not in force on ${tree.branch}: somebody may have reverted it.`, {
      hints: ["`jpg log` shows what is in force."],
    });
  }
  const { all } = await loadCompactions(workspace.store, tree);
  const gone = new Set((await groupPaths(workspace, tree, { all }))(file.path));
  const stays = ({ path }: { readonly path: string }): boolean => !gone.has(path);
  return { ...tree, compactions: tree.compactions.filter(stays), metas: tree.metas.filter(stays) };
}
