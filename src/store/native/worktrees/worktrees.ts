// The linked worktrees of a store: folders in which a branch is checked out beside the store's own worktree.
import { realpath, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { repositoryError } from "../../../core/errors.ts";
import { makeOwnFolder, replaceFile } from "../../files/replace-file.ts";
import { refOfBranch } from "../../refs/ref-name.ts";
import type { Worktree, Worktrees } from "../../worktrees.ts";
import { type Repository, runCommand, tryCommand } from "../git/git-command.ts";
import { runPorcelain } from "../porcelain/run-porcelain.ts";
import { worktreesFolder } from "../refs/project-of-store.ts";
import { readRef } from "../refs/ref-reader.ts";
import { catchUpWorktrees } from "./catch-up.ts";
import { excludeFromSurroundings } from "./exclude-file.ts";
import { findUnfinishedOperation } from "./unfinished-operation.ts";
import { applyAdvance, checkAdvance } from "./worktree-advance.ts";
import { findWorktree, listWorktrees } from "./worktree-list.ts";
import { forgetStep, recordStep, settleSteps, withWorktreeLock } from "./worktree-step.ts";

/** What a sparse worktree shows: top-level files and these folders (cone mode, gitignore(5) form). */
export const SPARSE_PATTERNS = "/*\n!/*/\n/compactions/\n/config/\n/meta/\n";

/** Creates the worktrees of a store; `root` null when the store is bare. */
export function createWorktrees(repository: Repository, root: string | null): Worktrees {
  return {
    folder: () => worktreesFolder(repository.cwd, repository.gitDir),
    list: () => listWorktrees(repository, root),
    at: (folder) => findWorktree(repository, root, folder),
    add: (path, checkedOut, options) =>
      addWorktree(repository, root, { path: resolve(repository.cwd, path), checkedOut, ...options }),
    hide: ({ path }) => excludeFromSurroundings(path, repository.env),
    remove: (worktree) => removeWorktree(repository, worktree),
    unfinished: ({ gitDir }) => findUnfinishedOperation(gitDir),
    async advance(worktree, from, to) {
      const { branch } = worktree;
      await withWorktreeLock(repository, worktree, async () => {
        // Whoever moved the branch on meanwhile has brought its files along.
        if (branch !== null && (await readRef(repository, refOfBranch(branch))) !== to) return;
        await checkAdvance(repository, { worktree, from, to });
        if (branch !== null) await recordStep(worktree, { kind: "advance", branch, from, to });
        await applyAdvance(repository, { worktree, from, to });
        await forgetStep(worktree);
      });
    },
    async settle() {
      const settled = await settleSteps(repository, root);
      await catchUpWorktrees(repository, root);
      return settled;
    },
  };
}

interface NewWorktree {
  readonly path: string;
  readonly checkedOut: string;
  readonly full: boolean;
}

async function addWorktree(repository: Repository, root: string | null, wanted: NewWorktree): Promise<Worktree> {
  const isCommit = /^[0-9a-f]{40}$/.test(wanted.checkedOut);
  if (!isCommit) refOfBranch(wanted.checkedOut);
  // Twice --force: the branch may be checked out in the store's own worktree, and a deleted folder may still be registered.
  const flags = ["--quiet", "--force", "--force", "--no-checkout", ...(isCommit ? ["--detach"] : [])];
  const args = ["worktree", "add", ...flags, wanted.path, wanted.checkedOut];
  await runCommand(repository, { args }, runPorcelain);
  const wantedPath = await realpath(wanted.path);
  const worktree = (await listWorktrees(repository, root)).find(({ path }) => path === wantedPath);
  if (worktree === undefined) {
    throw repositoryError("git_failed", `git worktree add made no worktree at ${wanted.path}.`);
  }
  try {
    await choosePaths(worktree, wanted.full);
    const place = { ...repository, gitDir: worktree.gitDir, cwd: worktree.path };
    await runCommand(place, { args: ["read-tree", "-m", "-u", "HEAD"] });
  } catch (error) {
    // Half a worktree would hold its branch, and the next attempt would take it for a whole one.
    await removeWorktree(repository, worktree);
    throw error;
  }
  return worktree;
}

/** What is in the way is no reason to fail: it is done because something failed. */
async function removeWorktree(repository: Repository, { path }: Worktree): Promise<void> {
  await tryCommand(repository, { args: ["worktree", "remove", "--force", "--force", path] }, runPorcelain);
}

async function choosePaths(worktree: Worktree, full: boolean): Promise<void> {
  const folder = join(worktree.gitDir, "info");
  const path = join(folder, "sparse-checkout");
  // Without patterns git checks everything out, whatever core.sparseCheckout says.
  if (full) return await rm(path, { force: true });
  await makeOwnFolder(folder);
  await replaceFile(path, SPARSE_PATTERNS);
}
