// Where a branch is checked out.
import { userError } from "../../core/errors.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** The worktree of a branch, one made by `checkout` before the store's own. Throws `not_checked_out`. */
export async function worktreeOf(workspace: Workspace, tree: BranchTree): Promise<string> {
  const all = (await workspace.store.worktrees?.list()) ?? [];
  const mine = all.filter((worktree) => worktree.branch === tree.branch);
  const found = mine.find((worktree) => worktree.path !== workspace.store.root) ?? mine[0];
  if (found === undefined) {
    throw userError("not_checked_out", `${tree.branch} is not checked out anywhere.`, {
      hints: [`\`jpg checkout ${tree.branch} DIR\` checks it out.`, "`jpg path` alone prints the store."],
    });
  }
  return found.path;
}
