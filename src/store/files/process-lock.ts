// One process at a time: a lock is a file that names its holder, so that whoever finds it after a crash takes it over.
import { existsSync } from "node:fs";
import { link, rename, rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { repositoryError } from "../../core/errors.ts";
import { parseJson } from "../../core/json.ts";
import { fileAge } from "./file-age.ts";
import { readOwnText } from "./read-file.ts";
import { createFile, draftPath } from "./replace-file.ts";
import { isProcessGone, markThisProcess, type ProcessMark, processMark } from "./running-process.ts";

const WAIT_MS = 10;
const ATTEMPTS = 2000;
/** A lock that nobody has written his name into after so many attempts is that of a writer who died while he did. */
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

/** Whether somebody who is still there holds a lock, or may. */
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

/** Removes the lock of a dead holder, null = of one without a name; one that somebody else has taken since is put back. */
async function removeDead(path: string, dead: ProcessMark | null): Promise<void> {
  const aside = await draftPath(path);
  const isMoved = await rename(path, aside).then(
    () => true,
    () => false,
  );
  if (!isMoved) return;
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
