// Moves branches and HEAD while nobody else moves the worktrees that show them. The engine never writes git's index. Where git has
// one, it would take the change out again with the next `git commit`: such a worktree is left to git. One that never had an index
// is marked as behind, and the next jpg that has git brings it along.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { needsGit } from "../files/needs-git.ts";
import { withLock } from "../files/process-lock.ts";
import { clearBehindMark, markBehind, STEP_RECORD, WORKTREE_LOCK } from "../files/worktree-files.ts";
import { listWorktrees } from "../native/worktrees/worktree-list.ts";
import type { Worktree } from "../worktrees.ts";
import type { EmbeddedRepository } from "./repository.ts";

/** All worktrees of a repository; none in memory. */
export async function worktreesOf(repository: EmbeddedRepository): Promise<readonly Worktree[]> {
  if (!repository.isOnDisk) return [];
  const { gitDir, root, isBare } = repository;
  return await listWorktrees({ gitDir, cwd: root, env: {} }, isBare ? null : root);
}

/** Runs `move` with the worktrees that hold a branch locked and marked, as standing at `at`; when it gives false, the marks go again. */
export async function withBranchMarks(
  repository: EmbeddedRepository,
  branch: string,
  at: string | null,
  move: () => Promise<boolean>,
): Promise<boolean> {
  const held = (await worktreesOf(repository)).filter((worktree) => worktree.branch === branch);
  // One order for everybody, so that two writers cannot wait for each other.
  const sorted = [...held].sort((a, b) => (a.gitDir < b.gitDir ? -1 : 1));
  const run = async (index: number): Promise<boolean> => {
    const worktree = sorted[index];
    return worktree === undefined
      ? await move()
      : await withWorktreeMark(
          { ...worktree, env: repository.env },
          () => Promise.resolve(at),
          () => run(index + 1),
        );
  };
  return await run(0);
}

/**
 * Runs `move` with a worktree locked and marked; `readAt` tells, under the lock, what its index stands at when it is not
 * behind already. Throws `lock_held`, and `needs_git` where git has the worktree checked out, or a step of somebody who was killed
 * is to be settled first.
 */
export function withWorktreeMark(
  { gitDir, path, env }: Pick<Worktree, "gitDir" | "path"> & Pick<EmbeddedRepository, "env">,
  readAt: () => Promise<string | null>,
  move: () => Promise<boolean>,
): Promise<boolean> {
  return withLock(join(gitDir, WORKTREE_LOCK), async () => {
    if (existsSync(join(gitDir, STEP_RECORD))) {
      throw needsGit(`A jpg that was killed left ${path} half changed: setting that right`, env);
    }
    if (existsSync(join(gitDir, "index"))) throw needsGit(`Changing what git has checked out in ${path}`, env);
    const isNew = await markBehind(gitDir, await readAt());
    let isMoved = false;
    try {
      isMoved = await move();
      return isMoved;
    } finally {
      if (isNew && !isMoved) await clearBehindMark(gitDir);
    }
  });
}
