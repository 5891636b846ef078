// What a store's git dir holds in addition to objects and refs: the paths of caches and kept files, and the checks before
// anything is written there.
import { createHash } from "node:crypto";
import { type Dirent, readdirSync, readlinkSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { JpgError, repositoryError } from "../core/errors.ts";
import type { Environment } from "./environment.ts";
import {
  createFile,
  isMissing,
  makeOwnFolder,
  notAFile,
  readOwnFile,
  readOwnText,
  replaceFile,
  unsafeAt,
} from "./files.ts";
import { findProgram } from "./program-call.ts";
import type { RemoteBranch, Remotes } from "./sharing.ts";
import type { BranchTip, Cache, ConversationStore } from "./store.ts";

/** The error `needs_git` for what only the git program does. `what` begins the sentence, e.g. `A checkout`. */
export function needsGit(what: string, env: Environment): JpgError {
  const why = hasGit(env) ? "--engine embedded works without it" : "no `git` was found in PATH";
  return repositoryError("needs_git", `${what} needs git, and ${why}.`, { hints: [gitHint(env)] });
}

/** The hint that says how git is used. */
export function gitHint(env: Environment): string {
  return hasGit(env)
    ? "Run the command again without --engine embedded."
    : "Install git: https://git-scm.com/downloads";
}

/** Whether the git program is found. If so, jpg works without it only because the user asked for it. */
export function hasGit(env: Environment): boolean {
  return findProgram("git", { env }) !== null;
}

// Files that jpg keeps in a worktree's git dir while the index and HEAD may differ: the lock of a writer, the record of a step
// in progress, and the mark of a worktree that is behind. The branch or HEAD of such a worktree was moved by an engine that
// does not write git's index: the mark names the commit of the index and files, from which the next jpg with git advances them.

/** The lock of the worktree. */
export const WORKTREE_LOCK = "jpg-advance.lock";
/** The step in progress. */
export const STEP_RECORD = "jpg-step.json";
const FILE = "jpg-behind";
/** In place of a commit: the index is empty. */
const NOTHING = "nothing";

/** The commit of a worktree's index and files. */
interface BehindMark {
  /** Null = none yet. */
  readonly at: string | null;
}

/** Reads the mark in a worktree's git dir; null when the worktree is not behind. */
export function readBehindMark(gitDir: string): BehindMark | null {
  let text: string;
  try {
    text = readOwnText(join(gitDir, FILE)).trim();
  } catch {
    return null; // not there
  }
  return { at: /^[0-9a-f]{40}$/.test(text) ? text : null };
}

/** Marks a worktree as behind, unless it is marked; returns whether it was marked now. */
export function markBehind(gitDir: string, at: string | null): Promise<boolean> {
  return createFile(join(gitDir, FILE), `${at ?? NOTHING}\n`);
}

export async function clearBehindMark(gitDir: string): Promise<void> {
  await rm(join(gitDir, FILE), { force: true });
}

// The caches of a store are in one folder of the git dir, so that all can be dropped at once.

const FOLDER = "jpg-cache";
/** Caches that jpg 0.1.0 kept outside the folder, and that contain parts of conversations. */
const FORMER = ["jpg-list.json", "jpg-event-counts.json", "jpg-sources-1.json", "jpg-auto-1.json"];

export function cacheFolder(gitDir: string): string {
  return join(gitDir, FOLDER);
}

/** Opens a cache; reads and creates nothing before first use. */
export function openCache(gitDir: string, name: string): Cache {
  const pathOf = (key: string | undefined): string =>
    join(cacheFolder(gitDir), key === undefined ? name : `${name}-${key}`);
  // Not recursive: a store without a git dir on disk has nowhere to keep anything.
  let made: Promise<void> | null = null;
  return {
    read(key) {
      try {
        // Synchronous: the thread pool costs many times what reading does.
        return readOwnFile(pathOf(key));
      } catch {
        return null; // never written, or unreadable
      }
    },
    async write(content, key) {
      try {
        made ??= makeOwnFolder(cacheFolder(gitDir));
        await made;
        await replaceFile(pathOf(key), content, { isCache: true });
      } catch {
        // A read-only store does its work each time. A removed folder is created again on the next write.
        made = null;
      }
    },
    async drop(key) {
      await rm(pathOf(key), { force: true });
    },
  };
}

/** Removes all caches of a git dir. */
export async function dropCaches(gitDir: string): Promise<void> {
  for (const name of [FOLDER, ...FORMER]) await rm(join(gitDir, name), { recursive: true, force: true });
}

/** The folder of the journals of open turns in a git dir. */
export function journalFolder(gitDir: string): string {
  return join(gitDir, "jpg-journal");
}

/** Keeps a text under a name, like git's COMMIT_EDITMSG; returns its file, null when it cannot be written. */
export async function keepText(gitDir: string, name: string, text: string): Promise<string | null> {
  const path = join(gitDir, `jpg-${name}.txt`);
  try {
    await replaceFile(path, text);
    return path;
  } catch {
    return null; // no store yet, or no space
  }
}

// Checks a git dir before anything is written there. Git follows links in its own folders, appends to reflogs through them and
// blocks on pipes; whoever provided the store may have put a link there to a file of the user's.

/** Entries at the top that users link on purpose: git and jpg write nothing of others through them. */
const MAY_BE_LINKS: ReadonlySet<string> = new Set(["HEAD", "hooks", "objects"]);
/** Folders that are walked recursively. */
const WALKED: ReadonlySet<string> = new Set(["logs", "refs", "worktrees"]);

/** Makes sure that git finds only files and folders where it writes: throws `store_unsafe`, naming the first link, pipe or device. */
export function requireOwnGitDir(gitDir: string): void {
  for (const entry of readFolder(gitDir)) {
    if (MAY_BE_LINKS.has(entry.name) || entry.isFile()) continue;
    if (!entry.isDirectory()) throw unsafe(gitDir, join(gitDir, entry.name), entry.isSymbolicLink());
    if (!WALKED.has(entry.name)) continue;
    // Symbolic refs of old gits; git never writes through them.
    for (const [path, below] of entriesBelow(join(gitDir, entry.name)))
      if (!below.isFile() && !(below.isSymbolicLink() && readlinkSync(path).startsWith("refs/")))
        throw unsafe(gitDir, path, below.isSymbolicLink());
  }
}

/** Repositories in which no pipe was found, by identity of the opened object. */
const checkedRepositories = new WeakSet<object>();

/** Makes sure that a git that only reads does not block on a pipe: throws `store_unsafe`, naming the first pipe or device. Checks once. */
export function requireNoPipes(repository: { readonly gitDir: string }): void {
  if (checkedRepositories.has(repository)) return;
  const { gitDir } = repository;
  const flat = [gitDir, join(gitDir, "info"), join(gitDir, "objects", "info")].flatMap(entriesIn);
  for (const [path, entry] of [...flat, ...entriesBelow(join(gitDir, "refs"))])
    if (!entry.isFile() && !entry.isDirectory() && !entry.isSymbolicLink())
      throw notAFile(`The store in ${dirname(gitDir)} is not read`, path);
  checkedRepositories.add(repository);
}

/** An entry of a folder, and its path. */
type PlacedEntry = readonly [path: string, entry: Dirent];

function entriesIn(folder: string): readonly PlacedEntry[] {
  return readFolder(folder).map((entry) => [join(folder, entry.name), entry]);
}

/** The entries below a folder, recursively, without the folders themselves. */
function* entriesBelow(folder: string): Generator<PlacedEntry> {
  for (const placed of entriesIn(folder))
    if (placed[1].isDirectory()) yield* entriesBelow(placed[0]);
    else yield placed;
}

function readFolder(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return []; // gone meanwhile
    throw error;
  }
}

function unsafe(gitDir: string, path: string, isLink: boolean): JpgError {
  const notDone = `Nothing is written to the store in ${dirname(gitDir)}`;
  return isLink
    ? unsafeAt(`${notDone}: ${path} is a symbolic link: git would write to what it names.`, path)
    : notAFile(notDone, path);
}

// The README branch that older versions of jpg wrote to repositories made for conversations, and that a plain clone of one
// checks out. A file in its tree marks it, whatever its name and other content; it is never a conversation.

/** The file that marks a README branch, in the root of its tree. */
export const STORE_MARKER = ".jpg-store";

/** Wraps a store so that its README branches do not exist. */
export function withoutReadme(store: ConversationStore): ConversationStore {
  const isReadme = async ({ name, commit }: BranchTip): Promise<boolean> =>
    mayBeReadme(name) && (await readsMarker(store, commit));
  const listBranches: ConversationStore["listBranches"] = async (skip) =>
    withoutMatches(await store.listBranches(skip), isReadme);
  const readBranch: ConversationStore["readBranch"] = async (name) => {
    const commit = await store.readBranch(name);
    return commit === null || (await isReadme({ name, commit })) ? null : commit;
  };
  const isRemoteReadme = async ({ remote, name }: RemoteBranch): Promise<boolean> => {
    const commit = await store.resolveCommit(`refs/remotes/${remote}/${name}`);
    return commit !== null && isReadme({ name, commit });
  };
  const list = async (): Promise<readonly RemoteBranch[]> =>
    withoutMatches((await store.remotes?.list()) ?? [], isRemoteReadme);
  const remotes: Remotes | null = store.remotes && { ...store.remotes, list };
  return Object.create(store, {
    listBranches: { value: listBranches, enumerable: true },
    readBranch: { value: readBranch, enumerable: true },
    remotes: { value: remotes, enumerable: true },
  }) as ConversationStore;
}

/** Decides by name whether the tree must be checked: a conversation's branch has a slash, unless made by hand. */
function mayBeReadme(name: string): boolean {
  return !name.includes("/");
}

async function readsMarker(store: ConversationStore, commit: string): Promise<boolean> {
  try {
    return (await store.readEntries(commit, [STORE_MARKER])).has(STORE_MARKER);
  } catch (error) {
    if (error instanceof JpgError) return false; // damaged: reading the branch reports it
    throw error;
  }
}

async function withoutMatches<T extends { readonly name: string }>(
  all: readonly T[],
  isReadme: (one: T) => Promise<boolean>,
): Promise<readonly T[]> {
  const found = new Set<T>();
  for (const one of all.filter(({ name }) => mayBeReadme(name))) if (await isReadme(one)) found.add(one);
  return found.size === 0 ? all : all.filter((one) => !found.has(one));
}

/** Makes the seal of some bytes in a folder: 64 hex digits. */
export function sealOf(folder: string, body: Uint8Array): string {
  return createHash("sha256")
    .update(`${placeOf(folder)}\n`)
    .update(body)
    .digest("hex");
}

/** Distinguishes this folder from every other, even a copy of it. A store in memory is nobody else's. */
function placeOf(folder: string): string {
  try {
    const { dev, ino, birthtimeMs } = statSync(folder);
    return `${dev} ${ino} ${birthtimeMs}`;
  } catch {
    return "in memory";
  }
}

/** A ref that git is about to push. */
export interface PushedRef {
  /** The local ref, or any revision, possibly with spaces. */
  readonly localRef: string;
  /** The object, zeros where the ref is removed. */
  readonly commit: string;
  readonly remoteRef: string;
  /** The current commit of the remote ref, zeros for none. */
  readonly remoteCommit: string;
}

/** Parses the lines that git passes to a `pre-push` hook. */
export function parsePushedRefs(lines: string): readonly PushedRef[] {
  return [...lines.matchAll(/^(.*) ([0-9a-f]{40}) (\S+) ([0-9a-f]{40})$/gm)].map(
    ([, localRef = "", commit = "", remoteRef = "", remoteCommit = ""]) => ({
      localRef,
      commit,
      remoteRef,
      remoteCommit,
    }),
  );
}
