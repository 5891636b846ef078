// The journals that lie in a store's git dir: whose they are, whether their writers still run, how they are taken away
// without taking another turn's with them.
import { lstat, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { readOwnText } from "../../store/files.ts";
import { isProcessGone } from "../../store/running-process.ts";
import { sha256 } from "../workspace/object-id.ts";
import { type JournalHead, parseJournalHead, type Replay, replayJournal } from "./journal-lines.ts";

/** A journal that was found. */
export interface FoundJournal {
  readonly path: string;
  /** Its writer is gone, or has given it up. */
  readonly isAbandoned: boolean;
}

const ENDING = ".jsonl";
/** In the names of journals that their writers gave up; stores hold such names. */
export const ABANDONED = ".left";
/** Longest encoded branch name; file systems allow 255 bytes, and more is added to it. */
const MAX_NAME = 180;
/** More than the first line of a journal has. */
const HEAD_BYTES = 64 * 1024;
/** A journal without a whole head counts as abandoned after so long: until then its writer may be just beginning, milliseconds. */
const NO_HEAD_MS = 10_000;

/** The journal of the open turn of a branch, in the folder that the store has for them. */
export function journalPath(folder: string, branch: string): string {
  const name = encodeURIComponent(branch);
  return join(folder, `${name.length > MAX_NAME ? sha256(branch) : name}${ENDING}`);
}

/** Lists the journals in the folder of a store, of a branch the abandoned ones first; a store without any costs one look. */
export async function listJournals(folder: string, now: Date): Promise<readonly FoundJournal[]> {
  const names = await readdir(folder).catch(() => []);
  return Promise.all(
    names
      .filter((name) => name.includes(ENDING))
      .sort()
      .reverse()
      .map(async (name) => {
        const path = join(folder, name);
        return { path, isAbandoned: name.includes(ABANDONED) || (await isDead(path, now)) };
      }),
  );
}

/** Whether a turn of a branch is being talked now. */
export async function isBeingTalked(folder: string, branch: string, now: Date): Promise<boolean> {
  const path = journalPath(folder, branch);
  return (await listJournals(folder, now)).some((found) => found.path === path && !found.isAbandoned);
}

/** Replays a journal; null when it is gone, or was never begun properly. */
export async function readJournal(path: string): Promise<Replay | null> {
  return replayJournal(textOf(path) ?? "");
}

/** Reads who writes a journal, and what; null when it is gone or has no whole head. */
export async function readJournalHead(path: string): Promise<JournalHead | null> {
  const text = textOf(path);
  return text === null ? null : parseJournalHead(text.slice(0, HEAD_BYTES));
}

function textOf(path: string): string | null {
  try {
    return readOwnText(path);
  } catch {
    return null;
  }
}

/** Takes a journal away if it still is that of the turn that begins with `start`; null = one without a head. */
export async function removeJournal(path: string, start: string | null): Promise<void> {
  const aside = `${path}${ABANDONED}-${start ?? "headless"}`;
  if (!(await moveAside(path, aside))) return;
  if (((await readJournalHead(aside))?.start ?? null) === start) await rm(aside, { force: true });
  // Somebody else removed that journal and has begun another turn since: this one is theirs.
  else await rename(aside, path);
}

/** Marks a journal as abandoned by its writer; gives its new path. */
export async function abandonJournal(path: string, start: string): Promise<string> {
  const aside = `${path}${ABANDONED}-${start}`;
  // On a disk where not even that is possible it counts as abandoned when this process has ended.
  return (await moveAside(path, aside)) ? aside : path;
}

function moveAside(path: string, aside: string): Promise<boolean> {
  return rename(path, aside).then(
    () => true,
    () => false,
  );
}

async function isDead(path: string, now: Date): Promise<boolean> {
  const head = await readJournalHead(path);
  if (head === null) return (await ageOf(path, now)) > NO_HEAD_MS;
  return isProcessGone(head.writer, () => ageOf(path, now));
}

/** Milliseconds since a file was written to; -1 when it is gone. */
async function ageOf(path: string, now: Date): Promise<number> {
  const found = await lstat(path).catch(() => null);
  return found === null ? -1 : now.getTime() - found.mtimeMs;
}
