// Brings a worktree along whose branch, or whose HEAD, the embedded engine moved: it leaves index and files to git.

import { clearBehindMark, readBehindMark } from "../../files/worktree-files.ts";
import { EMPTY_TREE } from "../../object-ids.ts";
import type { Worktree } from "../../worktrees.ts";
import type { Repository } from "../git/git-command.ts";
import { readHead, readRef } from "../refs/ref-reader.ts";
import { applyAdvance, checkAdvance } from "./worktree-advance.ts";

/** Brings a worktree that is marked as behind to what its HEAD names, under its lock. Throws `worktree_in_the_way`, and leaves the mark. */
export async function bringAlong(repository: Repository, worktree: Worktree): Promise<void> {
  const mark = readBehindMark(worktree.gitDir);
  if (mark === null) return;
  const head = await readHead(repository, worktree.gitDir);
  const commit = head === null || "commit" in head ? head?.commit : await readRef(repository, head.ref);
  const advance = { worktree, from: mark.at, to: commit ?? EMPTY_TREE };
  await checkAdvance(repository, advance);
  await applyAdvance(repository, advance);
  await clearBehindMark(worktree.gitDir);
}
