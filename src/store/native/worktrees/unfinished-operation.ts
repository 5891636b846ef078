// What git has begun in a worktree and not ended while HEAD is detached: a bisect or a rebase. Both know the branch that
// they began on, and go back to it.
import { join } from "node:path";
import { readFileIfThere } from "../../files/read-file.ts";
import { branchOfRef } from "../../refs/ref-name.ts";
import type { UnfinishedOperation } from "../../worktrees.ts";

/** Finds the operation in the git dir of a worktree; null when there is none. */
export async function findUnfinishedOperation(worktreeGitDir: string): Promise<UnfinishedOperation | null> {
  const read = async (...names: string[]): Promise<string | null> =>
    (await readFileIfThere(join(worktreeGitDir, ...names)))?.trim() ?? null;
  if ((await read("BISECT_LOG")) !== null) {
    const start = await read("BISECT_START");
    const branch = start === null || /^[0-9a-f]{40,64}$/.test(start) ? null : start;
    return { name: "bisect", branch, ends: ["bisect reset"] };
  }
  const head = (await read("rebase-merge", "head-name")) ?? (await read("rebase-apply", "head-name"));
  if (head === null) return null;
  return { name: "rebase", branch: branchOfRef(head), ends: ["rebase --continue", "rebase --abort"] };
}
