// Finds the store that a command is about: `--store`, then JPG_STORE, then the store one stands in, then the project's, then
// the user's. Git is asked only where the files around the current directory do not say it plainly, or nothing is made yet.
import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { userError } from "../../core/errors.ts";
import type { Environment } from "../environment.ts";
import { needsGit } from "../files/needs-git.ts";
import { readFileIfThere } from "../files/read-file.ts";
import type { ProjectLocation, StoreLocation } from "../store-location.ts";
import { hasUnbornHead, isConversationTree, MARKING_FILES } from "./conversation-tree.ts";
import { gitError, gitTooOldError } from "./git/git-error.ts";
import { runGit } from "./git/git-process.ts";
import { isStoreConfig } from "./refs/branch-config.ts";
import { findOwnRepository } from "./refs/ownership.ts";
import { findPlainRepository, type SurroundingRepository } from "./refs/plain-repository.ts";
import { isProjectDir, projectOfStore } from "./refs/project-of-store.ts";
import { findRepositoryDir } from "./refs/repository-dir.ts";

export interface LocateOptions {
  readonly cwd: string;
  readonly env: Environment;
  /** `--store DIR`. */
  readonly store?: string;
  /** jpg's folder under the user's data dir; the per-user store is `store` in it. */
  readonly userDataDir: string;
  /** Whether git may be asked; without it files alone tell, and what they do not tell is `needs_git`. Default true. */
  readonly git?: boolean;
}

/**
 * Locates the store. Throws `not_a_store` when the one named is a repository of something else, and `foreign_repository`
 * where git would not work: in the store, or in the project around the current directory.
 */
export async function locateStore(options: LocateOptions): Promise<StoreLocation> {
  const { cwd, store, userDataDir } = options;
  const asked: Asked = { env: options.env, git: options.git ?? true };
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

/** Who is asked, and with what environment. */
interface Asked {
  readonly env: Environment;
  readonly git: boolean;
}

interface Surroundings {
  /** Root of the store that the directory is in. */
  readonly storeRoot?: string;
  readonly project?: ProjectLocation;
}

async function findSurroundings(cwd: string, asked: Asked, isNamed: boolean): Promise<Surroundings | null> {
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
  // From a linked worktree, the store is another folder than the one that was looked at.
  await findOwnRepository(storeRoot, env);
  const project = projectOfStore(storeRoot, commonDir);
  if (!(await isProjectDir(project))) return { storeRoot };
  await findOwnRepository(project.root, env);
  return { storeRoot, project };
}

/** Whether a repository is a store or has one, by their config files. */
async function hasStore(commonDir: string): Promise<boolean> {
  const configs = [join(commonDir, "config"), join(commonDir, "jpg", ".git", "config")];
  const texts = await Promise.all(configs.map(readFileIfThere));
  return texts.some((text) => isStoreConfig(text ?? ""));
}

/** Whether any folder from here up looks like a repository; git finds none where this finds none. */
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
  return { commonDir, top: inside === "true" ? await findTop(cwd) : null };
}

/** The nearest folder upwards that has a `.git`: the top of the worktree one stands in. */
async function findTop(cwd: string): Promise<string | null> {
  for (let at = await realpath(cwd); ; at = dirname(at)) {
    if ((await findRepositoryDir(at)) !== null) return at;
    if (dirname(at) === at) return null;
  }
}

async function holdsConversations(commonDir: string, top: string | null, { env, git }: Asked): Promise<boolean> {
  if (isStoreConfig((await readFileIfThere(join(commonDir, "config"))) ?? "")) return true;
  const repository = { gitDir: commonDir, cwd: top ?? commonDir, env };
  // Where nothing was checked out yet there is no index.
  const isClear = top !== null && existsSync(join(commonDir, "index"));
  const isMarked = !isClear || MARKING_FILES.some((name) => existsSync(join(top, name)));
  const mayHold = isMarked || (await hasUnbornHead(repository));
  return mayHold && (await isConversationTree(repository, { git }));
}

async function locateNamed(path: string, asked: Asked): Promise<{ readonly root: string; readonly exists: boolean }> {
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

async function isStore(root: string, asked: Asked): Promise<boolean> {
  const found = await findOwnRepository(root, asked.env);
  return found !== null && (await holdsConversations(found.commonDir, found.isBare ? null : root, asked));
}
