// One writer at a time moves a branch that is checked out: the lock file in the worktree's git dir covers the check, the
// move of the branch and the worktree's step. It names the step, so that whoever finds it after a crash can finish it.
import { link, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf, repositoryError } from "../core/errors.ts";
import type { Worktree } from "./conversation-store.ts";
import { existsProcess, readProcessEntry } from "./process-entry.ts";

/** What the lock's holder is doing. */
export interface LockedStep {
  readonly pid: number;
  readonly branch: string;
  readonly from: string | null;
  readonly to: string;
}

const WAIT_MS = 10;
const ATTEMPTS = 2000;
/** A lock that nobody has written his name into after so many attempts is that of a writer who died while he did. */
const NAMELESS_ATTEMPTS = 200;
/** Locks that this process has tried to make: their files are told apart by it. */
let made = 0;
/** Errors of file systems that know no hard links. */
const NO_LINKS = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EXDEV"];

/** Runs `work` while holding the worktree's lock; `recover` is given the step of a holder that died. Throws `worktree_busy`. */
export async function withWorktreeLock<T>(
  worktree: Worktree,
  step: Omit<LockedStep, "pid">,
  recover: (dead: LockedStep) => Promise<void>,
  work: () => Promise<T>,
): Promise<T> {
  const path = join(worktree.gitDir, "jpg-advance.lock");
  const dead = await takeLock(path, JSON.stringify({ pid: process.pid, ...step }));
  try {
    if (dead !== null) await recover(dead);
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

/** Takes the lock; gives the step of the dead holder it was taken from, or null. */
async function takeLock(path: string, content: string): Promise<LockedStep | null> {
  let nameless = 0;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (await createExclusively(path, content)) return null;
    const holder = await readHolder(path);
    nameless = holder === null ? nameless + 1 : 0;
    if (holder === null && nameless >= NAMELESS_ATTEMPTS) await removeDead(path, null);
    if (holder !== null && !(await isAlive(holder.pid)) && (await stealLock(path, content, holder))) return holder;
    await sleep(WAIT_MS);
  }
  throw repositoryError("worktree_busy", `another jpg process holds ${path}`, {
    hints: ["wait for it and run the command again", `when no jpg runs, remove ${path} and ${path}.steal`],
  });
}

/** Takes a dead holder's lock; only one process at a time may try, so that none removes a lock just taken. */
async function stealLock(path: string, content: string, dead: LockedStep): Promise<boolean> {
  const mark = `${path}.steal`;
  if (!(await createExclusively(mark, JSON.stringify({ pid: process.pid })))) {
    const thief = await readHolder(mark);
    if (thief !== null && !(await isAlive(thief.pid))) await removeDead(mark, thief.pid);
    return false;
  }
  try {
    const holder = await readHolder(path);
    if (holder?.pid !== dead.pid) return false;
    await rm(path, { force: true });
    return await createExclusively(path, content);
  } finally {
    await rm(mark, { force: true });
  }
}

/** Removes the lock of a dead holder, null = of one without a name; one that somebody else has taken since is put back. */
async function removeDead(path: string, pid: number | null): Promise<void> {
  const aside = `${path}.${process.pid}.dead`;
  const isMoved = await rename(path, aside).then(
    () => true,
    () => false,
  );
  if (!isMoved) return;
  if (((await readHolder(aside))?.pid ?? null) !== pid) await link(aside, path).catch(() => undefined);
  await rm(aside, { force: true });
}

/** The lock appears with its content, so that whoever dies leaves none without a name. */
async function createExclusively(path: string, content: string): Promise<boolean> {
  const written = `${path}.${process.pid}-${++made}.new`;
  try {
    await writeFile(written, content);
    await link(written, path);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST") return false;
    if (NO_LINKS.includes(code)) return createInSteps(path, content);
    throw error;
  } finally {
    await rm(written, { force: true });
  }
}

async function createInSteps(path: string, content: string): Promise<boolean> {
  try {
    const file = await open(path, "wx");
    await file.writeFile(content);
    await file.close();
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

async function readHolder(path: string): Promise<LockedStep | null> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as LockedStep;
  } catch {
    // Just created and not yet written, or just removed: the next attempt sees which.
    return null;
  }
}

async function isAlive(pid: number): Promise<boolean> {
  return existsProcess(pid) && (await readProcessEntry(pid))?.isDead !== true;
}
