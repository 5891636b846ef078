// Finds the store that a command is about, and recognises a repository of conversations by its content.
import { existsSync, realpathSync, statSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { userError } from "../../core/errors.ts";
import { findSetting, isFalse, isTrue, parseConfig, type Setting } from "../config-file.ts";
import type { Environment } from "../environment.ts";
import { readFileIfExists } from "../files.ts";
import { needsGit, STORE_MARKER } from "../git-dir.ts";
import type { ProjectLocation, StoreLocation } from "../store.ts";
import { gitError, gitTooOldError, runGit } from "./git-process.ts";
import { readRemoteAccess } from "./guard.ts";
import { createObjectFiles } from "./object-files.ts";
import { type Repository, tryCommand } from "./porcelain.ts";
import { hasNoRefs, isStoreConfig, readHead, readRef } from "./refs.ts";
import {
  findOwnRepository,
  findRepositoryDir,
  isProjectDir,
  projectOfStore,
  type RepositoryDir,
} from "./repository.ts";
import { parseTree } from "./trees.ts";

/** A tree has one of these files: a conversation's the first, a README branch's the second. */
const FILES = ["conversation.json", STORE_MARKER] as const;

/** Branches that are checked when HEAD has no commit: the first may be somebody else's. */
const MOST_BRANCHES = 8;

/**
 * Whether HEAD's commit belongs to a repository of conversations; if HEAD has none, checks the first branches. Throws
 * `needs_git` when git may not be asked and the git dir lacks HEAD's objects: in a clone that shares or lacks objects.
 */
export async function isConversationTree(
  repository: Repository,
  { git = true }: { readonly git?: boolean } = {},
): Promise<boolean> {
  if (!git) return readWithoutGit(repository).then((found) => found.some(isMarking));
  if (!(await hasUnbornHead(repository))) return isMarked(repository, "HEAD");
  if (hasNoRefs(repository.gitDir)) return false;
  const args = ["for-each-ref", `--count=${MOST_BRANCHES}`, "--format=%(refname)", "refs/heads/", "refs/remotes/"];
  const refs = (await tryCommand(repository, { args })).stdout.toString().split("\n");
  for (const ref of refs) if (ref !== "" && (await isMarked(repository, ref))) return true;
  return false;
}

/** The files in HEAD's tree that mark a repository of conversations. */
const MARKING_FILES: readonly string[] = FILES;

/** Whether HEAD names a branch without a commit, as in a clone of a repository whose HEAD names none. */
async function hasUnbornHead(repository: Repository): Promise<boolean> {
  const head = await readHead(repository, repository.gitDir);
  return head !== null && "ref" in head && (await readRef(repository, head.ref)) === null;
}

async function isMarked(repository: Repository, revision: string): Promise<boolean> {
  let unread = 0;
  for (const name of FILES) {
    const { code, stdout } = await tryCommand(repository, { args: ["cat-file", "blob", `${revision}:${name}`] });
    if (code === 0 && isMarking({ name, text: stdout.toString() })) return true;
    if (code !== 0) unread++;
  }
  return (
    unread === FILES.length &&
    readRemoteAccess(repository).unconfirmed.length > 0 &&
    isMarkedByNames(repository, revision)
  );
}

/** By names alone: in a partial clone the files may be missing, and no remote is asked for them. */
async function isMarkedByNames(repository: Repository, revision: string): Promise<boolean> {
  const { stdout } = await tryCommand(repository, { args: ["ls-tree", "--name-only", "-z", revision] });
  const names = new Set(stdout.toString().split("\0"));
  return names.has(STORE_MARKER) || ["conversation.json", ".gitattributes"].every((name) => names.has(name));
}

/** A file of HEAD's tree that may mark the repository. */
interface MarkingFile {
  readonly name: string;
  readonly text: string;
}

/** The marking files of HEAD's tree, read without git. */
async function readWithoutGit(repository: Repository): Promise<readonly MarkingFile[]> {
  const head = await readHead(repository, repository.gitDir);
  const commit = head === null || "commit" in head ? head?.commit : await readRef(repository, head.ref);
  // jpg's stores use SHA-1, and so do clones of them.
  if (commit?.length !== 40) return [];
  const files = createObjectFiles(repository.gitDir);
  try {
    const read = (oid: string): Buffer => {
      const found = files.read(oid);
      if (found === null) throw needsGit(`Telling whether ${repository.cwd} holds conversations`, repository.env);
      return found.bytes;
    };
    const tree = /^tree ([0-9a-f]{40})\n/.exec(read(commit).toString("latin1"))?.[1];
    return (tree === undefined ? [] : parseTree(read(tree))).flatMap(({ name, oid }) =>
      MARKING_FILES.includes(name) ? [{ name, text: read(oid).toString() }] : [],
    );
  } finally {
    files.close();
  }
}

function isMarking({ name, text }: MarkingFile): boolean {
  try {
    const value: unknown = JSON.parse(text);
    const isForm = typeof value === "object" && value !== null && "format" in value;
    return isForm && (name === STORE_MARKER || "id" in value);
  } catch {
    // Another program's file of that name.
    return false;
  }
}

// Finds the store that a command is about: `--store`, then JPG_STORE, then the store around the current directory, then the
// project's, then the user's. Asks git only when the files around the current directory are not conclusive, or nothing is made
// yet.

interface LocateOptions {
  readonly cwd: string;
  readonly env: Environment;
  /** `--store DIR`. */
  readonly store?: string;
  /** jpg's folder under the user's data dir; the per-user store is `store` in it. */
  readonly userDataDir: string;
  /** Whether git may be asked; else only files are read, and inconclusive ones throw `needs_git`. Default true. */
  readonly git?: boolean;
}

/**
 * Locates the store. Throws `not_a_store` when the named one is another kind of repository, and `foreign_repository` where git
 * would refuse to work: in the store, or in the project around the current directory.
 */
export async function locateStore(options: LocateOptions): Promise<StoreLocation> {
  const { cwd, store, userDataDir } = options;
  const asked: GitAccess = { env: options.env, git: options.git ?? true };
  const named = store ?? (options.env["JPG_STORE"] || undefined);
  const around = await findSurroundings(cwd, asked, named !== undefined);
  const project = around?.project === undefined ? {} : { project: around.project };
  if (named !== undefined) {
    const kind = store === undefined ? "env" : "flag";
    return { ...(await locateNamed(resolve(cwd, named), asked)), kind, ...project };
  }
  if (around?.storeRoot !== undefined) return { root: around.storeRoot, kind: "here", exists: true, ...project };
  if (around?.project !== undefined) {
    const root = join(around.project.commonDir, "jpg");
    return { root, kind: "project", exists: await isStore(root, asked), ...project };
  }
  const root = join(userDataDir, "store");
  return { root, kind: "user", exists: await isStore(root, asked) };
}

/** Whether and how git may be asked. */
interface GitAccess {
  readonly env: Environment;
  readonly git: boolean;
}

interface Surroundings {
  /** Root of the store that the directory is in. */
  readonly storeRoot?: string;
  readonly project?: ProjectLocation;
}

async function findSurroundings(cwd: string, asked: GitAccess, isNamed: boolean): Promise<Surroundings | null> {
  const { env, git } = asked;
  const plain = await findPlainRepository(cwd, env);
  const isKnown = plain !== null && (!git || isNamed || (await hasStore(plain.commonDir)));
  if (!isKnown && !(await hasRepositoryAbove(cwd))) return null;
  if (!isKnown && !git) throw needsGit(`Finding out which repository ${cwd} is in`, env);
  const found = isKnown ? plain : await askGit(cwd, env);
  if (found === null) return null;
  const { commonDir, top } = found;
  if (!(await holdsConversations(commonDir, top, asked))) return { project: { root: top ?? commonDir, commonDir } };
  const storeRoot = basename(commonDir) === ".git" ? dirname(commonDir) : (top ?? commonDir);
  // From a linked worktree, the store is another folder than the one that was checked.
  await findOwnRepository(storeRoot, env);
  const project = projectOfStore(storeRoot, commonDir);
  if (!(await isProjectDir(project))) return { storeRoot };
  await findOwnRepository(project.root, env);
  return { storeRoot, project };
}

/** Whether a repository is a store or has one, by their config files. */
async function hasStore(commonDir: string): Promise<boolean> {
  const configs = [join(commonDir, "config"), join(commonDir, "jpg", ".git", "config")];
  const texts = await Promise.all(configs.map(readFileIfExists));
  return texts.some((text) => isStoreConfig(text ?? ""));
}

/** Whether any folder from here up looks like a repository; if not, git finds none either. */
async function hasRepositoryAbove(cwd: string): Promise<boolean> {
  for (let at = await realpath(cwd); ; at = dirname(at)) {
    if (existsSync(join(at, ".git")) || (await findRepositoryDir(at)) !== null) return true;
    // Inside a linked worktree's git dir there is no `objects`, but a `commondir`.
    if (existsSync(join(at, "commondir"))) return true;
    if (dirname(at) === at) return false;
  }
}

async function askGit(cwd: string, env: Environment): Promise<SurroundingRepository | null> {
  const flags = ["--is-inside-work-tree", "--path-format=absolute", "--git-common-dir"];
  const { code, stdout, stderr } = await runGit(["rev-parse", ...flags], { cwd, env });
  if (code !== 0 && /not a git repository/.test(stderr)) return null;
  if (code !== 0) throw gitError({ args: ["rev-parse"], code, stderr, where: cwd });
  const [inside, ...rest] = stdout.toString().trimEnd().split("\n");
  const commonDir = rest.join("\n");
  // A git that does not know the flag repeats it.
  if (commonDir.startsWith("--path-format")) throw gitTooOldError("older than that");
  // Git for Windows writes `/` between names.
  return { commonDir: resolve(commonDir), top: inside === "true" ? await findTop(cwd) : null };
}

/** The nearest parent with a `.git`: the top of the current worktree. */
async function findTop(cwd: string): Promise<string | null> {
  for (let at = await realpath(cwd); ; at = dirname(at)) {
    if ((await findRepositoryDir(at)) !== null) return at;
    if (dirname(at) === at) return null;
  }
}

async function holdsConversations(commonDir: string, top: string | null, { env, git }: GitAccess): Promise<boolean> {
  if (isStoreConfig((await readFileIfExists(join(commonDir, "config"))) ?? "")) return true;
  const repository = { gitDir: commonDir, cwd: top ?? commonDir, env };
  // Before the first checkout there is no index.
  const isClear = top !== null && existsSync(join(commonDir, "index"));
  const isMarked = !isClear || MARKING_FILES.some((name) => existsSync(join(top, name)));
  const mayHold = isMarked || (await hasUnbornHead(repository));
  return mayHold && (await isConversationTree(repository, { git }));
}

async function locateNamed(
  path: string,
  asked: GitAccess,
): Promise<{ readonly root: string; readonly exists: boolean }> {
  const found = await findOwnRepository(path, asked.env);
  if (found === null) return { root: path, exists: false };
  const top = found.isBare ? null : path;
  if (!(await holdsConversations(found.commonDir, top, asked))) {
    throw userError("not_a_store", `${path} is a git repository, but not a jpg store.`, {
      hints: ["Leave --store out to use the project's own store.", "Or name an empty folder: jpg init DIR"],
    });
  }
  const isLinked = found.commonDir !== found.gitDir && basename(found.commonDir) === ".git";
  const isDotGit = found.isBare && basename(path) === ".git";
  const root = isLinked || isDotGit ? dirname(found.commonDir) : path;
  if (root !== path) await findOwnRepository(root, asked.env);
  return { root, exists: true };
}

async function isStore(root: string, asked: GitAccess): Promise<boolean> {
  const found = await findOwnRepository(root, asked.env);
  return found !== null && (await holdsConversations(found.commonDir, found.isBare ? null : root, asked));
}

// The repository around a directory according to its files, without starting git. Returns null, so that git is asked, whenever
// git might see it differently.

/** A repository that a directory is in. Paths are absolute, without symbolic links. */
interface SurroundingRepository {
  /** The git dir that all its worktrees share. */
  readonly commonDir: string;
  /** Top of the current worktree; null in a bare repository or inside a git dir. */
  readonly top: string | null;
}

/**
 * Finds the repository around a directory; null when there is none, or only git can say. Throws `foreign_repository` like
 * `findOwnRepository`.
 */
export async function findPlainRepository(cwd: string, env: Environment): Promise<SurroundingRepository | null> {
  if ((env["GIT_CEILING_DIRECTORIES"] ?? "") !== "") return null;
  const start = realpathSync.native(cwd);
  for (let at = start; ; at = dirname(at)) {
    const found = await findOwnRepository(at, env);
    if (found !== null) return found.isBare ? null : await checkPlain(found, { start, top: at });
    if (dirname(at) === at) return null;
  }
}

async function checkPlain(
  { commonDir: directory, gitDir }: RepositoryDir,
  { start, top }: { readonly start: string; readonly top: string },
): Promise<SurroundingRepository | null> {
  const config = await readFileIfExists(join(directory, "config"));
  if (config === null) return null;
  const settings = parseConfig(config);
  // Files that these include do not count for git either.
  const hasOwn = isTrue(findSetting(settings, "extensions.worktreeconfig"));
  const own = hasOwn ? parseConfig((await readFileIfExists(join(gitDir, "config.worktree"))) ?? "") : [];
  if (movesWorktree([...settings, ...own])) return null;
  // Git does not search beyond the file system that it starts on.
  return statSync(start).dev === statSync(top).dev ? { commonDir: realpathSync.native(directory), top } : null;
}

/** Whether settings move the worktree elsewhere or remove it. */
function movesWorktree(settings: readonly Setting[]): boolean {
  const bare = findSetting(settings, "core.bare");
  return (bare !== undefined && !isFalse(bare)) || findSetting(settings, "core.worktree") !== undefined;
}
