// The worktrees of a store as the embedded engine knows them: found and read, but neither made nor brought along.

import { needsGit } from "../files/needs-git.ts";
import { worktreesFolder } from "../native/refs/project-of-store.ts";
import { excludeFromSurroundings } from "../native/worktrees/exclude-file.ts";
import { findUnfinishedOperation } from "../native/worktrees/unfinished-operation.ts";
import { findWorktree } from "../native/worktrees/worktree-list.ts";
import type { Worktrees } from "../worktrees.ts";
import type { EmbeddedRepository } from "./repository.ts";
import { withWorktreeMark, worktreesOf } from "./worktree-marks.ts";

/** Gives the worktrees of a repository on a disk; null of one in memory. */
export function createWorktrees(repository: EmbeddedRepository): Worktrees | null {
  if (!repository.isOnDisk) return null;
  const { gitDir, root, isBare, env } = repository;
  return {
    folder: () => worktreesFolder(root, gitDir),
    list: () => worktreesOf(repository),
    at: (folder) => findWorktree({ gitDir, cwd: root, env }, isBare ? null : root, folder),
    add: () => Promise.reject(needsGit("A checkout", env)),
    hide: ({ path }) => excludeFromSurroundings(path, env),
    remove: () => Promise.reject(needsGit("Taking a worktree away", env)),
    unfinished: (worktree) => findUnfinishedOperation(worktree.gitDir),
    async advance(worktree, from) {
      await withWorktreeMark(
        { ...worktree, env },
        () => Promise.resolve(from),
        () => Promise.resolve(true),
      );
    },
    settle: () => Promise.resolve([]),
  };
}
