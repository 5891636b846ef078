// Checks a branch out into a worktree whose VIEW.md and view.jsonl show what the model sees.
import { readdir } from "node:fs/promises";
import { resolve } from "node:path";
import { codeOf, repositoryError, userError } from "../core/errors.ts";
import type { BranchTree } from "./branch-tree.ts";
import { loadView } from "./load-view.ts";
import { refreshWorktree } from "./refresh-view.ts";
import type { CheckoutReport } from "./reports.ts";
import type { Workspace } from "./workspace.ts";

/** Makes the worktree, or brings an existing one of the same branch up to date. Throws `directory_not_empty`, `needs_git`. */
export async function checkoutBranch(
  workspace: Workspace,
  tree: BranchTree,
  request: { readonly directory: string; readonly full: boolean },
): Promise<CheckoutReport> {
  const { worktrees } = workspace.store;
  if (worktrees === null)
    throw repositoryError("needs_git", "A checkout needs the git program; the embedded engine has no worktrees.", {
      hints: ["Install git 2.31 or newer."],
    });
  const path = resolve(workspace.runtime.cwd, request.directory);
  const existing = (await worktrees.list()).find((worktree) => worktree.path === path);
  if (existing !== undefined && existing.branch !== tree.branch) {
    throw userError("directory_in_use", `${path} is a worktree of ${existing.branch ?? "no branch"} already.`, {
      hints: [
        `In it, \`git switch --ignore-other-worktrees ${tree.branch}\` changes its branch.`,
        "Or name another directory.",
      ],
    });
  }
  if (existing === undefined && !(await isFree(path))) {
    throw userError("directory_not_empty", `${path} exists and is not empty.`, {
      hints: ["Name a directory that does not exist yet."],
    });
  }
  const worktree = existing ?? (await worktrees.add(path, tree.branch, { full: request.full }));
  await refreshWorktree(workspace, worktree, tree.commit);
  const { view } = await loadView(workspace.store, tree);
  return { path, branch: tree.branch, full: request.full, turns: view.turns.length };
}

async function isFree(path: string): Promise<boolean> {
  try {
    return (await readdir(path)).length === 0;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return true;
    return false;
  }
}
