// One writer at a time moves what a worktree shows: the lock in the worktree's git dir covers the check, the move of the
// branch or of HEAD, and the worktree's step. It names the step, so that whoever finds it after a crash can finish it or
// take it back.
import { join } from "node:path";
import type { Worktree } from "../../conversation-store.ts";
import { withLock } from "../../files/process-lock.ts";
import type { Repository } from "../git/git-command.ts";
import { refOfBranch } from "../refs/ref-name.ts";
import { readRef } from "../refs/ref-reader.ts";
import { applyAdvance } from "./worktree-advance.ts";

/** What the lock's holder is doing: its branch moves, or HEAD does. */
export interface WorktreeStep {
  /** The branch that moves; null = HEAD goes over to another one. */
  readonly branch: string | null;
  readonly from: string | null;
  readonly to: string;
}

/** Runs `work` while holding the worktree's lock, after the step of a holder that died was seen to. Throws `lock_held`. */
export function withWorktreeLock<T>(
  repository: Repository,
  worktree: Worktree,
  step: WorktreeStep,
  work: () => Promise<T>,
): Promise<T> {
  const lock = { path: join(worktree.gitDir, "jpg-advance.lock"), doing: step };
  return withLock(lock, async (left) => {
    if (left !== null) await finishStep(repository, worktree, left);
    return await work();
  });
}

/** Finishes the step of a writer that died between moving the branch and bringing the worktree along. */
async function finishStep(repository: Repository, worktree: Worktree, left: WorktreeStep): Promise<void> {
  if (left.branch === null || left.branch !== worktree.branch) return;
  if ((await readRef(repository, refOfBranch(left.branch))) !== left.to) return;
  await applyAdvance(repository, { worktree, from: left.from, to: left.to });
}
