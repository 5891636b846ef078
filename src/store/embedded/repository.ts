// A repository as the embedded engine sees it: a git dir in a file system, which may be in memory, and what its parts share.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { repositoryError, userError } from "../../core/errors.ts";
import { isFalse, parseConfig } from "../config-file.ts";
import type { Environment } from "../environment.ts";
import { readFileIfExists, syncFolders } from "../files.ts";
import type { ObjectFiles } from "../git/object-files.ts";
import { isFolder } from "../git/refs.ts";
import { findWorktree, listWorktrees, worktreesFolder } from "../git/repository.ts";
import { findUnfinishedOperation } from "../git/worktree-step.ts";
import { excludeFromRepositoryAround } from "../git/worktrees.ts";
import {
  clearBehindMark,
  gitHint,
  markBehind,
  needsGit,
  requireOwnGitDir,
  STEP_RECORD,
  WORKTREE_LOCK,
} from "../git-dir.ts";
import { withLock } from "../locks.ts";
import { branchOfRef, openReflogs, type RefPlace, readHeadFile, readRefFile, refOfBranch } from "../ref-files.ts";
import type { Worktree, Worktrees } from "../store.ts";
import { lockFile } from "./refs.ts";

export interface EmbeddedRepository extends RefPlace {
  readonly isBare: boolean;
  /** The caller's. */
  readonly env: Environment;
  /** Reads objects before isomorphic-git is asked: on a disk like the native engine. */
  readonly files: Omit<ObjectFiles, "size">;
  /** isomorphic-git's cache of packs that only it can read. */
  readonly cache: object;
  /** Whether the user's git signs commits. */
  readonly signs: () => Promise<boolean>;
}

/** The branch that HEAD of a worktree names, even without a commit; the store's own by default; null when it names none. */
export async function readActiveBranch(repository: EmbeddedRepository, gitDir?: string): Promise<string | null> {
  const head = await readHeadFile(repository, gitDir);
  return head !== null && "ref" in head ? branchOfRef(head.ref) : null;
}

/** Switches a worktree; the store's own by default. Throws `branch_missing`, `lock_held`, `ref_locked`. */
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

/** In memory, and in a bare repository, no index can be behind. */
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
    // `git switch -` and `jpg use -` read this line; for a HEAD without a commit git writes none.
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

// Moves branches and HEAD while nobody else moves the worktrees that show them. The engine never writes git's index. An
// existing index would undo the change with the next `git commit`: such a worktree is left to git. A worktree without an index
// is marked as behind, and the next jpg with git advances it.

/** All worktrees of a repository; none in memory. */
export async function worktreesOf(repository: EmbeddedRepository): Promise<readonly Worktree[]> {
  if (!repository.isOnDisk) return [];
  const { gitDir, root, isBare } = repository;
  return await listWorktrees({ gitDir, cwd: root, env: {} }, isBare ? null : root);
}

/** Runs `move` with the worktrees of a branch locked and marked as being at `at`; removes new marks when it returns false. */
export async function withBranchMarks(
  repository: EmbeddedRepository,
  branch: string,
  at: string | null,
  move: () => Promise<boolean>,
): Promise<boolean> {
  const held = (await worktreesOf(repository)).filter((worktree) => worktree.branch === branch);
  // One order everywhere, so that two writers cannot wait for each other.
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
 * Runs `move` with a worktree locked and marked; `readAt` returns, under the lock, the commit of its index when it is not
 * behind already. Throws `lock_held`, and `needs_git` when git has the worktree checked out, or an unfinished step must be
 * settled first.
 */
function withWorktreeMark(
  { gitDir, path, env }: Pick<Worktree, "gitDir" | "path"> & Pick<EmbeddedRepository, "env">,
  readAt: () => Promise<string | null>,
  move: () => Promise<boolean>,
): Promise<boolean> {
  return withLock(join(gitDir, WORKTREE_LOCK), async () => {
    if (existsSync(join(gitDir, STEP_RECORD))) {
      throw needsGit(`A jpg that was killed left ${path} half changed: repairing that`, env);
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

// Repositories whose objects or refs are not in the files that the engine knows. They are refused before anything is read,
// because what cannot be seen would count as gone.

/** Extensions (gitrepository-layout(5)) that do not change how objects and refs are read and written. */
const HARMLESS = ["noop", "preciousobjects", "worktreeconfig", "relativeworktrees"];

/** Refuses alternates, partial clones, reftable, SHA-256 and unknown extensions. Throws `engine_unsupported`. */
export async function requireSupported({
  root,
  gitDir,
  env,
}: Pick<EmbeddedRepository, "root" | "gitDir" | "env">): Promise<void> {
  const reason = await findReason(gitDir);
  if (reason === null) return;
  throw repositoryError("engine_unsupported", `The store ${root} ${reason}: only the git program reads such a store.`, {
    hints: [gitHint(env)],
    data: { root, reason },
  });
}

async function findReason(gitDir: string): Promise<string | null> {
  const alternates = (await readFileIfExists(join(gitDir, "objects", "info", "alternates"))) ?? "";
  if (alternates.trim() !== "") return "takes objects from another repository (alternates)";
  if (isFolder(join(gitDir, "reftable"))) return "keeps its refs in a reftable";
  if (hasPromisedPacks(gitDir)) return PARTIAL;
  for (const { name, value } of parseConfig((await readFileIfExists(join(gitDir, "config"))) ?? "")) {
    if (/^remote\..*\.promisor$/s.test(name) && !isFalse(value)) return PARTIAL;
    const reason = reasonOf(name, value.toLowerCase());
    if (reason !== null) return reason;
  }
  return null;
}

const PARTIAL = "is a partial clone (a remote has the rest)";

function reasonOf(name: string, value: string): string | null {
  if (name === "core.repositoryformatversion" && Number(value) > 1) return `has the repository format ${value}`;
  const extension = /^extensions\.(.*)$/s.exec(name)?.[1];
  if (extension === undefined || HARMLESS.includes(extension)) return null;
  if (extension === "objectformat") return value === "sha1" ? null : `names objects by ${value.toUpperCase()}`;
  if (extension === "refstorage") return value === "files" ? null : `keeps its refs in a ${value}`;
  return extension === "partialclone" ? PARTIAL : `has the extension ${extension}`;
}

function hasPromisedPacks(gitDir: string): boolean {
  try {
    return readdirSync(join(gitDir, "objects", "pack")).some((name) => name.endsWith(".promisor"));
  } catch {
    return false; // no packs
  }
}

/** Returns the worktrees of a repository on a disk; null in memory. */
export function createWorktrees(repository: EmbeddedRepository): Worktrees | null {
  if (!repository.isOnDisk) return null;
  const { gitDir, root, isBare, env } = repository;
  return {
    folder: () => worktreesFolder(root, gitDir),
    list: () => worktreesOf(repository),
    at: (folder) => findWorktree({ gitDir, cwd: root, env }, isBare ? null : root, folder),
    add: () => Promise.reject(needsGit("A checkout", env)),
    exclude: ({ path }) => excludeFromRepositoryAround(path, env),
    remove: () => Promise.reject(needsGit("Removing a worktree", env)),
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
