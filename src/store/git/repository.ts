// The repository around a directory, from its files: its git dir, owner, worktrees, and the project it belongs to.
import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { userError } from "../../core/errors.ts";
import type { Environment } from "../environment.ts";
import { readFileIfExists } from "../files.ts";
import { branchOfRef } from "../ref-files.ts";
import type { ProjectLocation, Worktree } from "../store.ts";
import { gitError, runGit } from "./git-process.ts";
import type { Repository } from "./porcelain.ts";
import { isFolder, readHead } from "./refs.ts";

// The project that a store or a directory belongs to. Does not ask git and only checks which files exist: the result says what
// belongs to what, and no work is done in it.

/** The project whose git dir contains a project store. */
export function projectOfStore(storeRoot: string, commonDir: string): ProjectLocation {
  const projectDir = dirname(storeRoot);
  const isInProject = basename(storeRoot) === "jpg" && commonDir === join(storeRoot, ".git");
  const root = basename(projectDir) === ".git" ? dirname(projectDir) : projectDir;
  return { root, commonDir: isInProject ? projectDir : "" };
}

export async function isProjectDir({ commonDir }: ProjectLocation): Promise<boolean> {
  return commonDir !== "" && (await findRepositoryDir(commonDir))?.isBare === true;
}

/** The default folder of a store's worktrees: in the project's git dir, else in the store's own. */
export async function worktreesFolder(root: string, gitDir: string): Promise<string> {
  const project = projectOfStore(root, gitDir);
  return join((await isProjectDir(project)) ? project.commonDir : gitDir, "jpg-worktrees");
}

/**
 * Finds the git dir, shared by all worktrees, of the nearest repository around a directory (absolute, without symbolic links);
 * null where there is none. A store in a project's git dir belongs to the project.
 */
export async function findProjectAround(directory: string): Promise<string | null> {
  const found = await findNearest(directory);
  if (found === null) return null;
  const { commonDir, top } = found;
  const project = projectOfStore(basename(commonDir) === ".git" ? dirname(commonDir) : top, commonDir);
  return (await isProjectDir(project)) ? project.commonDir : commonDir;
}

/**
 * Finds the folder from which the repository of a git dir (absolute) is found: `cwd` if it is in that repository, as in a hook or an
 * alias; else the top of the worktree that the git dir belongs to, or the git dir of a bare one. Throws `no_repository`.
 */
export async function findNamedRepository(gitDir: string, cwd: string): Promise<string> {
  const top = await worktreeTop(gitDir);
  const named = top === null ? null : await findRepositoryDir(top);
  if (top === null || named === null)
    throw userError("no_repository", `Git says that the repository is ${gitDir}, and there is none.`, {
      hints: ["Name an existing one: `git --git-dir DIR jpg …`, or leave --git-dir and GIT_DIR out."],
    });
  const around = await findNearest(cwd);
  return around !== null && realPathOf(around.gitDir) === realPathOf(named.gitDir) ? cwd : top;
}

/** The folder whose `.git` is or names the git dir; the git dir itself if there is none; null if it does not exist. */
async function worktreeTop(gitDir: string): Promise<string | null> {
  const at = realPathOf(gitDir);
  if (at === null) return null;
  if (basename(at) === ".git") return dirname(at);
  // Git writes the path of the worktree's `.git` there.
  const link = (await readFileIfExists(join(at, "gitdir")))?.trim();
  return link === undefined ? at : dirname(resolve(at, link));
}

/** The nearest repository around a directory, and the parent folder that it is found in. */
async function findNearest(directory: string): Promise<(RepositoryDir & { readonly top: string }) | null> {
  for (let at = directory; ; at = dirname(at)) {
    const found = await findRepositoryDir(at);
    if (found !== null) return { ...found, top: at };
    if (dirname(at) === at) return null;
  }
}

/** Where git is asked for the settings of a project. */
interface ProjectPlace extends ProjectLocation {
  /** The git dir of that worktree. */
  readonly gitDir: string;
}

/**
 * Finds where to ask git for the settings of the project that a store belongs to; null where it belongs to none. That is the
 * worktree around `cwd`, if it is one of the project's: a worktree may have settings of its own.
 */
export async function findProjectPlace(
  { gitDir, root }: { readonly gitDir: string; readonly root: string },
  cwd: string | undefined,
): Promise<ProjectPlace | null> {
  const project = projectOfStore(root, gitDir);
  if (!(await isProjectDir(project))) return null;
  const here = cwd === undefined ? null : realPathOf(cwd);
  const nearest = here === null ? null : await findNearest(here);
  const isOwn = nearest !== null && realPathOf(nearest.commonDir) === realPathOf(project.commonDir);
  if (isOwn) return { root: nearest.top, commonDir: project.commonDir, gitDir: nearest.gitDir };
  return { ...project, gitDir: project.commonDir };
}

function realPathOf(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null; // it does not exist
  }
}

/** Lists the tops of a repository's worktrees, absolute, including deleted ones that git still lists. */
export async function listWorktreeTops(commonDir: string): Promise<readonly string[]> {
  const [, ...linked] = await listGitDirs(commonDir);
  const files = await Promise.all(linked.map((gitDir) => readFileIfExists(join(gitDir, "gitdir"))));
  // Git writes the path of the worktree's `.git` there, relative to that folder where the user wants it so.
  const dotGits = files.map((text, at) => resolve(linked[at] ?? "", (text ?? "").trim()));
  const main = basename(commonDir) === ".git" ? [commonDir] : [];
  return [...main, ...dotGits].filter((path) => basename(path) === ".git").map((path) => dirname(path));
}

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
  const link = /^gitdir: (.+?)\s*$/s.exec((await readFileIfExists(dotGit)) ?? "")?.[1];
  if (link !== undefined) {
    const gitDir = resolve(directory, link);
    const common = (await readFileIfExists(join(gitDir, "commondir")))?.trim();
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
  return (await readFileIfExists(join(path, "HEAD"))) !== null;
}

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
  const link = (await readFileIfExists(join(gitDir, "gitdir")))?.trim();
  if (link === undefined || link === "") return null;
  const file = resolve(gitDir, link);
  // A folder that was deleted by hand is only an entry to prune; one of the store that this one was copied from is not ours.
  const back = /^gitdir: (.+?)\s*$/s.exec((await readFileIfExists(file)) ?? "")?.[1];
  if (back === undefined || !isSamePath(resolve(dirname(file), back), gitDir)) return null;
  return await describeWorktree(repository, dirname(file), gitDir);
}

/** Whether two paths name one thing on the disk, whichever way they are written. */
export function isSamePath(a: string, b: string): boolean {
  const real = realOrNull(a);
  return a === b || (real !== null && real === realOrNull(b));
}

async function describeWorktree(repository: Repository, path: string, gitDir: string): Promise<Worktree | null> {
  const head = await readHead(repository, gitDir);
  if (head === null) return null;
  const commit = "ref" in head ? null : head.commit;
  return { path, gitDir, branch: "ref" in head ? branchOfRef(head.ref) : null, commit };
}

// Ownership of a repository. jpg works only where git itself would (`safe.directory`, CVE-2022-24765): the owner of a
// repository decides what git does in it. Owners are compared first; git is asked only when one is not the caller.

/**
 * Finds the git dirs of a directory like `findRepositoryDir`, before reading anything else of them. Throws `foreign_repository`
 * where git would refuse to work.
 */
export async function findOwnRepository(directory: string, env: Environment): Promise<RepositoryDir | null> {
  const found = await findRepositoryDir(directory);
  if (found !== null && !isOwn(directory, found, env)) await askGit(directory, env);
  return found;
}

/** Compares what git compares: the worktree, its `.git`, and the git dir that it names. */
function isOwn(directory: string, { gitDir, isBare }: RepositoryDir, env: Environment): boolean {
  // Without uids (Windows), and when a test makes git take every owner for another, git is asked.
  const caller = process.geteuid?.();
  if (caller === undefined || env["GIT_TEST_ASSUME_DIFFERENT_OWNER"] !== undefined) return false;
  const paths = isBare ? [gitDir] : [directory, join(directory, ".git"), gitDir];
  return paths.every((path) => lstatSync(path, { throwIfNoEntry: false })?.uid === caller);
}

async function askGit(directory: string, env: Environment): Promise<void> {
  const cwd = realpathSync.native(directory);
  // Keeps git from finding a repository above, in case it does not accept this one.
  const extraEnv = { GIT_CEILING_DIRECTORIES: dirname(cwd) };
  const args = ["rev-parse", "--git-dir"];
  const { code, stderr } = await runGit(args, { cwd, env, extraEnv });
  if (code !== 0) throw gitError({ args, code, stderr, where: cwd });
}
