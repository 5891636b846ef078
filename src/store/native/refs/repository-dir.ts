// Finds the git dir that belongs to a directory by the files git keeps, without starting git: `.git` as a folder, `.git` as
// a file (submodule, linked worktree), or a bare repository.
import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { readFileIfThere } from "../../files/read-file.ts";
import { isFolder } from "./ref-reader.ts";

/** The git dirs of a directory that is the top of a worktree or a bare repository. */
export interface RepositoryDir {
  /** Shared by all worktrees. */
  readonly commonDir: string;
  /** Its own; equals `commonDir` except in a linked worktree. */
  readonly gitDir: string;
  readonly isBare: boolean;
}

/** Finds the git dirs of a directory, or null when it is no top of a worktree and no bare repository. Searches no parent. */
export async function findRepositoryDir(directory: string): Promise<RepositoryDir | null> {
  const dotGit = join(directory, ".git");
  if (await isGitDir(dotGit)) return { commonDir: dotGit, gitDir: dotGit, isBare: false };
  const link = /^gitdir: (.+?)\s*$/s.exec((await readFileIfThere(dotGit)) ?? "")?.[1];
  if (link !== undefined) {
    const gitDir = resolve(directory, link);
    const common = (await readFileIfThere(join(gitDir, "commondir")))?.trim();
    return { gitDir, commonDir: common === undefined ? gitDir : resolve(gitDir, common), isBare: false };
  }
  return (await isGitDir(directory)) ? { commonDir: directory, gitDir: directory, isBare: true } : null;
}

/** The git dirs of all worktrees of a repository, its own (`gitDir`, the shared one) first. Those of linked worktrees may be stale. */
export async function listGitDirs(gitDir: string): Promise<readonly string[]> {
  const folder = join(gitDir, "worktrees");
  const linked = await readdir(folder).catch(() => []);
  return [gitDir, ...linked.map((name) => join(folder, name))];
}

async function isGitDir(path: string): Promise<boolean> {
  if (!isFolder(join(path, "objects")) || !isFolder(join(path, "refs"))) return false;
  return (await readFileIfThere(join(path, "HEAD"))) !== null;
}
