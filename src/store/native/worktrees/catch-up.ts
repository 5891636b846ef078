// Has every worktree that the embedded engine left behind brought along, before anything is done in the store.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { JpgError } from "../../../core/errors.ts";
import { readBehindMark } from "../../files/worktree-files.ts";
import type { Repository } from "../git/git-command.ts";
import { listWorktrees } from "./worktree-list.ts";
import { withWorktreeLock } from "./worktree-step.ts";

/** Where no worktree is marked this costs two looks. One with local changes in the way stays, and what writes to its branch says so. */
export async function catchUpWorktrees(repository: Repository, root: string | null): Promise<void> {
  const { gitDir } = repository;
  if (readBehindMark(gitDir) === null && !existsSync(join(gitDir, "worktrees"))) return;
  for (const worktree of await listWorktrees(repository, root)) {
    if (readBehindMark(worktree.gitDir) === null) continue;
    // Taking the lock settles what is left, this too.
    await withWorktreeLock(repository, worktree, () => Promise.resolve()).catch((error: unknown) => {
      if (!(error instanceof JpgError)) throw error;
    });
  }
}
