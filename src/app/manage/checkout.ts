// Checks out a branch into a worktree whose VIEW.md and view.jsonl show what the model sees, and switches the active branch.
import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { conversationOf } from "../../core/conversation/name.ts";
import { codeOf, userError } from "../../core/errors.ts";
import { isSameFolder } from "../../core/folder-path.ts";
import { needsGit } from "../../store/git-dir.ts";
import type { Worktree } from "../../store/store.ts";
import { makeActive, readCheckedOut } from "../conversation/checked-out.ts";
import { refreshWorktree, writeViews } from "../conversation/refresh-view.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { loadView } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";

export interface CheckoutReport {
  /** Absolute path of the worktree. */
  readonly path: string;
  readonly branch: string;
  /** Commit of a detached HEAD; absent = the branch is checked out. */
  readonly commit?: string;
  /** File that excludes the worktree from the repository around it; absent = no repository around. */
  readonly excluded_by?: string;
  /** Whether turns and sources are checked out, too. */
  readonly full?: boolean;
  /** Turns of the view. */
  readonly turns?: number;
}

/**
 * Creates the worktree, or updates an existing one of the same branch; HEAD is detached if a revision named the tree. Without a
 * directory it is created inside a git dir, where no project's `git add` sees it. Throws `directory_not_empty`, `directory_in_use`,
 * `needs_git`.
 */
export async function checkoutBranch(
  workspace: Workspace,
  tree: BranchTree,
  request: { readonly directory?: string; readonly full: boolean },
): Promise<CheckoutReport> {
  const { worktrees } = workspace.store;
  if (worktrees === null) throw needsGit("A checkout", workspace.runtime.env);
  const { directory } = request;
  const path =
    directory === undefined ? await defaultPlace(workspace, tree) : resolve(workspace.runtime.cwd, directory);
  const existing = (await worktrees.list()).find((worktree) =>
    isSameFolder(worktree.path, path, workspace.runtime.platform),
  );
  if (existing !== undefined && !holds(existing, tree)) {
    const what = existing.branch ?? `commit ${existing.commit?.slice(0, 9)}`;
    throw userError("directory_in_use", `${path} is already a worktree of ${what}.`, {
      hints: [`In that folder, \`jpg use ${tree.branch}\` changes its branch.`, "Or name another directory."],
    });
  }
  if (existing === undefined && !(await isFree(path))) {
    throw userError("directory_not_empty", `${path} exists and is not empty.`, {
      hints: ["Name a directory that does not exist yet."],
    });
  }
  const checkedOut = tree.revision === undefined ? tree.branch : tree.commit;
  const worktree = existing ?? (await worktrees.add(path, checkedOut, { full: request.full }));
  const excluded = await writeViewsInto(workspace, worktree, tree.commit).catch(async (error: unknown) => {
    if (existing === undefined) await worktrees.remove(worktree);
    throw error;
  });
  const { view } = await loadView(workspace.store, tree);
  const report = { path, branch: tree.branch, full: request.full, turns: view.turns.length };
  return {
    ...report,
    commit: tree.revision === undefined ? undefined : tree.commit,
    ...(excluded === null ? {} : { excluded_by: excluded }),
  };
}

/** Writes the views into a worktree. Returns the file that excludes it from the repository around it; null if there is none. */
async function writeViewsInto(workspace: Workspace, worktree: Worktree, commit: string): Promise<string | null> {
  const excluded = (await workspace.store.worktrees?.exclude(worktree)) ?? null;
  await refreshWorktree(workspace, worktree, commit);
  return excluded;
}

function holds(worktree: Worktree, { branch, commit, revision }: BranchTree): boolean {
  return revision === undefined ? worktree.branch === branch : worktree.commit === commit;
}

async function defaultPlace({ store }: Workspace, { branch, commit, revision }: BranchTree): Promise<string> {
  const folder = (await store.worktrees?.folder()) ?? store.root;
  return revision === undefined
    ? join(folder, branch)
    : join(folder, conversationOf(branch), `at-${commit.slice(0, 9)}`);
}

async function isFree(path: string): Promise<boolean> {
  try {
    return (await readdir(path)).length === 0;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return true;
    return false;
  }
}

interface UseReport {
  readonly conversation: string;
  readonly branch: string;
  /** Branch that was active before; null = none. */
  readonly previous: string | null;
}

/** Switches HEAD of the current worktree to a branch, and updates its view. */
export async function useConversation(workspace: Workspace, tree: BranchTree): Promise<UseReport> {
  const previous = (await readCheckedOut(workspace)).branch;
  if (previous !== tree.branch) await makeActive(workspace, tree.branch);
  await writeViews(workspace, tree.branch);
  return { conversation: conversationOf(tree.branch), branch: tree.branch, previous };
}

/** Returns the path of a branch's worktree, preferring one made by `checkout` to the store's own. Throws `not_checked_out`. */
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
