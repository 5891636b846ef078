// Makes a branch the one that a worktree has checked out: HEAD goes over to it, index and files follow when git is there.
import { join } from "node:path";
import { repositoryError, userError } from "../../core/errors.ts";
import { requireOwnGitDir } from "../files/own-git-dir.ts";
import { syncFolders } from "../files/sync-folders.ts";
import { readHeadFile, readRefFile } from "../refs/ref-files.ts";
import { lockFile } from "../refs/ref-lock.ts";
import { branchOfRef, refOfBranch } from "../refs/ref-name.ts";
import { openReflogs } from "../refs/reflog.ts";
import type { Worktree } from "../worktrees.ts";
import type { EmbeddedRepository } from "./repository.ts";
import { withWorktreeMark } from "./worktree-marks.ts";

/** The branch that HEAD of a worktree names, born or not, the store's own when no git dir is given; null when it names none. */
export async function readActiveBranch(repository: EmbeddedRepository, gitDir?: string): Promise<string | null> {
  const head = await readHeadFile(repository, gitDir);
  return head !== null && "ref" in head ? branchOfRef(head.ref) : null;
}

/** Switches a worktree, the store's own unless said otherwise. Throws `branch_missing`, `lock_held`, `ref_locked`. */
export async function useBranch(repository: EmbeddedRepository, name: string, where?: Worktree): Promise<void> {
  const to = await readRefFile(repository, refOfBranch(name));
  if (to === null) {
    throw userError("branch_missing", `There is no branch ${name} in ${repository.root}.`, {
      hints: ["`jpg ls` lists the conversations."],
    });
  }
  const place = where ?? { gitDir: repository.gitDir, path: repository.root };
  if ((await readActiveBranch(repository, place.gitDir)) === name) return;
  await marked(repository, place, () => moveHead(repository, place.gitDir, { ref: refOfBranch(name), to }));
}

/** Makes HEAD of the store name a branch that is not there: no conversation is active. */
export async function leaveEmpty(repository: EmbeddedRepository): Promise<void> {
  const place = { gitDir: repository.gitDir, path: repository.root };
  await marked(repository, place, () => moveHead(repository, place.gitDir, { ref: refOfBranch("main"), to: null }));
}

/** In memory, and in a bare repository, there is nothing that could be behind. */
async function marked(
  repository: EmbeddedRepository,
  place: Pick<Worktree, "gitDir" | "path">,
  move: () => Promise<boolean>,
): Promise<void> {
  const hasIndex = repository.isOnDisk && !(repository.isBare && place.gitDir === repository.gitDir);
  if (hasIndex)
    await withWorktreeMark({ ...place, env: repository.env }, () => readCommit(repository, place.gitDir), move);
  else await move();
}

async function moveHead(
  repository: EmbeddedRepository,
  gitDir: string,
  { ref, to }: { readonly ref: string; readonly to: string | null },
): Promise<boolean> {
  if (repository.isOnDisk) requireOwnGitDir(repository.gitDir);
  const path = join(gitDir, "HEAD");
  const lock = await lockFile(repository, path);
  if (lock === null) throw repositoryError("ref_locked", `Another process holds the lock ${path}.lock.`);
  try {
    const head = await readHeadFile(repository, gitDir);
    const from = await readCommit(repository, gitDir);
    const before = head === null ? null : "ref" in head ? branchOfRef(head.ref) : head.commit;
    await lock.write(`ref: ${ref}\n`);
    // `git switch -` and `jpg use -` read this line; of a HEAD that names nothing git writes none.
    if (from !== null && to !== null) {
      const message = `checkout: moving from ${before ?? from} to ${branchOfRef(ref) ?? ref}`;
      (await openReflogs(repository)).append("HEAD", { from, to, message }, gitDir);
    }
    lock.commit();
    if (repository.isOnDisk) await syncFolders([gitDir]);
    return true;
  } finally {
    lock.release();
  }
}

/** The commit that HEAD of a worktree names; null when it names a branch without one. */
async function readCommit(repository: EmbeddedRepository, gitDir: string): Promise<string | null> {
  const head = await readHeadFile(repository, gitDir);
  if (head === null) return null;
  return "commit" in head ? head.commit : await readRefFile(repository, head.ref);
}
