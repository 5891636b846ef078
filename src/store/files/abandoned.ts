// Whether a file of git's that names nobody (a lock, an unfinished pack) is still somebody's. It is abandoned when it was
// not written to for a while, no process has it open, and no git that could have made it runs in the store: one that only
// reads makes none, and one that was started later did not make this one. In doubt it is somebody's. See decision 020.
import { lstat, readdir, readFile, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";
import { fileAge } from "./file-age.ts";
import { askPs, readProcessEntry } from "./process-entry.ts";

/** Time in which a file counts as being worked on, milliseconds: git holds its locks for a moment. */
const FRESH_MS = 10_000;
/** The same where processes cannot be looked into. */
const FRESH_UNSEEN_MS = 60 * 60_000;
/** How far the start of a process and the time of a file may be off, milliseconds. */
const TOLERANCE_MS = 2000;
/** Milliseconds in a tick of Linux's process table. */
const TICK_MS = 10;
/** git's programs that read and may run for hours beside a jpg; they take no lock. */
const READERS = /\0cat-file\0/;

/** Where a store is. */
export interface StorePlace {
  readonly gitDir: string;
  readonly cwd: string;
}

/** Whether a file below the git dir is nobody's any more. False for what is not an ordinary file, and when it is gone. */
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

/** When the system was started, milliseconds since 1970; null where there is no process table in files. */
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

/** Whether a process is a git that may write and works in one of the places, or cannot be looked into. */
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
