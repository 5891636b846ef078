// Finds the worktrees of a store by the files git keeps about them, without starting git.
import { readdirSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readFileIfThere } from "../../files/read-file.ts";
import { branchOfRef } from "../../refs/ref-name.ts";
import type { Worktree } from "../../worktrees.ts";
import type { Repository } from "../git/git-command.ts";
import { readHead } from "../refs/ref-reader.ts";
import { findRepositoryDir } from "../refs/repository-dir.ts";

/** Lists the store's own worktree (when it has one), then the linked ones whose folder still exists, by name. */
export async function listWorktrees(repository: Repository, root: string | null): Promise<readonly Worktree[]> {
  const own = root === null ? [] : [await describeWorktree(repository, root, repository.gitDir)];
  const folder = join(repository.gitDir, "worktrees");
  const linked = await Promise.all(listFolder(folder).map((name) => describeLinked(repository, join(folder, name))));
  return [...own, ...linked].filter((worktree) => worktree !== null);
}

/** Finds the worktree of a store that a folder is in, as git does: by the nearest `.git` upwards. */
export async function findWorktree(
  repository: Repository,
  root: string | null,
  folder: string,
): Promise<Worktree | null> {
  for (let at = realOrNull(folder); at !== null; at = dirname(at) === at ? null : dirname(at)) {
    const found = await findRepositoryDir(at);
    if (found === null) continue;
    const [common, own] = [found.commonDir, repository.gitDir].map(realOrNull);
    if (found.isBare || common === null || common !== own) return null;
    const isOwn = found.gitDir === found.commonDir;
    return await describeWorktree(repository, isOwn ? (root ?? at) : at, isOwn ? repository.gitDir : found.gitDir);
  }
  return null;
}

/** Null when it does not exist. */
function realOrNull(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

function listFolder(path: string): string[] {
  try {
    return readdirSync(path).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

async function describeLinked(repository: Repository, gitDir: string): Promise<Worktree | null> {
  const link = (await readFileIfThere(join(gitDir, "gitdir")))?.trim();
  if (link === undefined || link === "") return null;
  const file = resolve(gitDir, link);
  // A folder that was deleted by hand is only an entry to prune; one of a store that this one was copied from is not ours.
  const back = /^gitdir: (.+?)\s*$/s.exec((await readFileIfThere(file)) ?? "")?.[1];
  if (back === undefined || !isSamePath(resolve(dirname(file), back), gitDir)) return null;
  return await describeWorktree(repository, dirname(file), gitDir);
}

function isSamePath(a: string, b: string): boolean {
  const real = realOrNull(a);
  return a === b || (real !== null && real === realOrNull(b));
}

async function describeWorktree(repository: Repository, path: string, gitDir: string): Promise<Worktree | null> {
  const head = await readHead(repository, gitDir);
  if (head === null) return null;
  const commit = "ref" in head ? null : head.commit;
  return { path, gitDir, branch: "ref" in head ? branchOfRef(head.ref) : null, commit };
}
