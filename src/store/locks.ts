// One process at a time: locks that name their holder, and what killed processes left.
import { existsSync, readdirSync } from "node:fs";
import { link, lstat, readdir, readFile, readlink, realpath, rm } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { repositoryError } from "../core/errors.ts";
import { parseJson } from "../core/json.ts";
import { appendAll } from "../core/lists.ts";
import { createFile, draftPath, fileAge, readOwnText, renameFile, writerOfDraft } from "./files.ts";
import { cacheFolder } from "./git-dir.ts";
import {
  askPs,
  isProcessGone,
  markThisProcess,
  type ProcessMark,
  processMark,
  readProcessEntry,
} from "./running-process.ts";
import type { Worktree } from "./store.ts";

// What killed processes left: drafts, unfinished packs, locks. The next writer clears it, once its writer is gone.

/** Unfinished files that git and jpg make among the packs; git itself clears them after two weeks. */
const UNFINISHED = /^tmp_(pack|idx|rev|jpg)_/;
/** Crash reports of fast-import. */
const CRASH_REPORT = /^fast_import_crash_\d+$/;
/** An object that a killed git was writing, in one of the 256 folders of loose objects or in their parent. */
const UNFINISHED_OBJECT = /^tmp_obj_/;
/** Folders of loose objects. */
const FAN = /^[0-9a-f]{2}$/;
const LOCKED = [
  /Unable to create '([^'\n]+\.lock)': File exists/,
  /could not lock config file ([^\n]+): File exists/,
] as const;

/**
 * Removes drafts, unfinished packs and crash reports whose writers are gone; removes folders only in the git dir, where no
 * stranger's tree is checked out. Never fails: what cannot be removed stays.
 */
export async function clearLeftovers(store: StorePlace, worktrees: readonly Worktree[]): Promise<void> {
  for (const path of await listLeftovers(store, worktrees))
    await remove(path, { recursive: dirname(path) === store.gitDir });
}

/** Lists what clearLeftovers removes: absolute paths. */
export async function listLeftovers(store: StorePlace, worktrees: readonly Worktree[]): Promise<readonly string[]> {
  const { gitDir } = store;
  const own = namesIn(gitDir).filter((name) => name.startsWith("jpg-") || ["hooks", "info"].includes(name));
  const folders = [
    gitDir,
    ...own.map((name) => join(gitDir, name)),
    ...worktrees.flatMap((one) => [one.path, one.gitDir, cacheFolder(one.gitDir)]),
  ];
  const left: string[] = [];
  for (const folder of new Set(folders)) appendAll(left, await listDrafts(folder));
  appendAll(left, await listAbandoned(store, packFolder(store), UNFINISHED));
  appendAll(left, await listAbandoned(store, gitDir, CRASH_REPORT));
  return left;
}

/** Removes what a git that failed just now left among the packs; keeps what another process works on. Never fails. */
export async function clearUnfinishedPacks(store: StorePlace): Promise<void> {
  for (const path of await listAbandoned(store, packFolder(store), UNFINISHED, 0)) await remove(path);
}

function packFolder({ gitDir }: StorePlace): string {
  return join(gitDir, "objects", "pack");
}

/** Lists the objects that killed gits were writing. Reads every folder of loose objects, so writes do not call it. */
export async function listUnfinishedObjects(store: StorePlace): Promise<readonly string[]> {
  const objects = join(store.gitDir, "objects");
  const folders = namesIn(objects)
    .filter((name) => FAN.test(name))
    .map((name) => join(objects, name));
  const left: string[] = [];
  for (const folder of [objects, ...folders]) appendAll(left, await listAbandoned(store, folder, UNFINISHED_OBJECT));
  return left;
}

async function listAbandoned(
  store: StorePlace,
  folder: string,
  pattern: RegExp,
  freshMs?: number,
): Promise<readonly string[]> {
  const left: string[] = [];
  for (const name of namesIn(folder).filter((found) => pattern.test(found))) {
    const path = join(folder, name);
    if (await isAbandoned(store, path, freshMs)) left.push(path);
  }
  return left;
}

/** Removes the lock that a git command named in its error, when nobody holds it; returns whether it did. */
export async function clearLock(store: StorePlace, stderr: string): Promise<boolean> {
  const [lock, config] = LOCKED.map((pattern) => pattern.exec(stderr)?.[1]);
  const named = lock ?? (config === undefined ? undefined : `${config}.lock`);
  if (named === undefined) return false;
  const path = resolve(store.cwd, named);
  if (!path.startsWith(resolve(store.gitDir) + sep) || !(await isAbandoned(store, path))) return false;
  return await remove(path);
}

async function listDrafts(folder: string): Promise<readonly string[]> {
  const left: string[] = [];
  for (const name of namesIn(folder)) {
    const writer = writerOfDraft(name);
    const path = join(folder, name);
    if (writer !== null && (await isProcessGone(writer, () => fileAge(path)))) left.push(path);
  }
  return left;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function remove(path: string, { recursive }: { readonly recursive: boolean } = { recursive: false }): Promise<boolean> {
  return rm(path, { recursive }).then(
    () => true,
    () => false,
  );
}

// Whether a file of git's that does not name its owner (a lock, an unfinished pack) is still in use. It is abandoned when it
// was not written to for a while, no process has it open, and no git that could have made it runs in the store: readers make
// none, and a git that was started later did not make this one. In doubt it is in use. See docs/decisions/git.md.

/** Time in which a file counts as in use, milliseconds: git holds its locks for a moment. */
const FRESH_MS = 10_000;
/** The same time where processes cannot be inspected. */
const FRESH_UNSEEN_MS = 60 * 60_000;
/** Tolerance between the start of a process and the time of a file, milliseconds. */
const TOLERANCE_MS = 2000;
/** Milliseconds in a tick of Linux's process table. */
const TICK_MS = 10;
/** git's programs that only read and may run for hours at the same time as a jpg; they take no lock. */
const READERS = /\0cat-file\0/;

interface StorePlace {
  readonly gitDir: string;
  readonly cwd: string;
}

/** Whether a file below the git dir is abandoned. False for what is not an ordinary file, and when it is gone. */
export async function isAbandoned(store: StorePlace, path: string, freshMs: number = FRESH_MS): Promise<boolean> {
  const found = await lstat(path).catch(() => null);
  if (found?.isFile() !== true) return false;
  const age = await fileAge(path);
  if (age < freshMs) return false;
  const started = await readSystemStart();
  if (started === null) return age >= FRESH_UNSEEN_MS && !(await runsAnyGit());
  const file = await realpath(path);
  const places = await Promise.all([store.gitDir, store.cwd].map((place) => realpath(place)));
  for (const pid of (await readdir("/proc")).map(Number).filter(Number.isInteger)) {
    const entry = await readProcessEntry(pid);
    if (entry === null || entry.isDead) continue;
    if (await hasOpen(pid, file)) return false;
    const isOlder = started + Number(entry.started) * TICK_MS <= found.mtimeMs + TOLERANCE_MS;
    if (isOlder && (await isGitIn(pid, places))) return false;
  }
  return true;
}

/** Boot time, milliseconds since 1970; null without /proc. */
async function readSystemStart(): Promise<number | null> {
  const text = await readFile("/proc/stat", "utf8").catch(() => "");
  const seconds = /^btime (\d+)$/m.exec(text)?.[1];
  return seconds === undefined ? null : Number(seconds) * 1000;
}

/** Files of other users' processes cannot be seen; such a git counts by its name. */
async function hasOpen(pid: number, file: string): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder).catch(() => []);
  const open = await Promise.all(names.map((name) => readlink(join(folder, name)).catch(() => "")));
  return open.includes(file);
}

/** Whether a process is a git that may write and works in one of the places, or cannot be inspected. */
async function isGitIn(pid: number, places: readonly string[]): Promise<boolean> {
  const name = await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "");
  if (!name.startsWith("git")) return false;
  const words = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  if (READERS.test(words)) return false;
  const folder = await readlink(`/proc/${pid}/cwd`).catch((error: NodeJS.ErrnoException) => error);
  // One that has ended meanwhile works nowhere.
  if (typeof folder !== "string") return folder.code !== "ENOENT";
  return places.some((place) => folder === place || folder.startsWith(`${place}/`) || words.includes(place));
}

async function runsAnyGit(): Promise<boolean> {
  const commands = await askPs(["-axo", "command="]);
  return commands === "" || commands.split("\n").some((line) => /^(\S*\/)?git(-\S+)? (?!.*\bcat-file\b)/.test(line));
}

// A lock is a file that names its holder, so that the next process can take it over after a crash.

const WAIT_MS = 10;
const ATTEMPTS = 2000;
/** A lock that has no holder's name after so many attempts belongs to a writer that died while writing it. */
const NAMELESS_ATTEMPTS = 200;

/** Runs `work` while holding the lock at a path. Throws `lock_held` after 20 s. */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  await takeLock(path, JSON.stringify(await markThisProcess()));
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

/** Whether a process that still runs holds a lock, or may. */
export async function isLocked(path: string): Promise<boolean> {
  const holder = await readHolder(path);
  return holder === null ? existsSync(path) : !(await isDead(holder, path));
}

async function takeLock(path: string, content: string): Promise<void> {
  let nameless = 0;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (await createFile(path, content)) return;
    const holder = await readHolder(path);
    nameless = holder === null ? nameless + 1 : 0;
    if (holder === null && nameless >= NAMELESS_ATTEMPTS) await removeDead(path, null);
    if (holder !== null && (await isDead(holder, path)) && (await stealLock(path, content, holder))) return;
    await sleep(WAIT_MS);
  }
  const holder = await readHolder(path);
  const who = holder === null ? "Another jpg" : `Another jpg (process ${holder.pid})`;
  throw repositoryError("lock_held", `${who} holds ${path}.`, {
    hints: ["Wait for it and run the command again.", `When no jpg runs, remove ${path} and ${path}.steal.`],
  });
}

/** Takes a dead holder's lock; only one process at a time may try, so that none removes a lock just taken. */
async function stealLock(path: string, content: string, dead: ProcessMark): Promise<boolean> {
  const mark = `${path}.steal`;
  if (!(await createFile(mark, JSON.stringify(await markThisProcess())))) {
    const thief = await readHolder(mark);
    if (thief !== null && (await isDead(thief, mark))) await removeDead(mark, thief);
    return false;
  }
  try {
    if (!isSame(await readHolder(path), dead)) return false;
    await rm(path, { force: true });
    return await createFile(path, content);
  } finally {
    await rm(mark, { force: true });
  }
}

/** Removes the lock of a dead holder, null = of one without a name; puts it back if another process has taken it meanwhile. */
async function removeDead(path: string, dead: ProcessMark | null): Promise<void> {
  const aside = await draftPath(path);
  try {
    renameFile(path, aside);
  } catch {
    return; // somebody else has removed it
  }
  if (!isSame(await readHolder(aside), dead)) await link(aside, path).catch(() => undefined);
  await rm(aside, { force: true });
}

async function readHolder(path: string): Promise<ProcessMark | null> {
  try {
    return parseJson(readOwnText(path), processMark);
  } catch {
    // Just created and not yet written, or just removed: the next attempt sees which.
    return null;
  }
}

function isDead(holder: ProcessMark, path: string): Promise<boolean> {
  return isProcessGone(holder, () => fileAge(path));
}

function isSame(one: ProcessMark | null, other: ProcessMark | null): boolean {
  if (one === null || other === null) return one === other;
  return one.pid === other.pid && one.started === other.started && one.place === other.place;
}
