// One writer at a time moves a branch that is checked out: the lock file in the worktree's git dir covers the check, the
// move of the branch and the worktree's step. It names the step, so that whoever finds it after a crash can finish it.
import { open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { repositoryError } from "../core/errors.ts";
import type { Worktree } from "./conversation-store.ts";

/** What the lock's holder is doing. */
export interface LockedStep {
  readonly pid: number;
  readonly branch: string;
  readonly from: string | null;
  readonly to: string;
}

const WAIT_MS = 10;
const ATTEMPTS = 2000;

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
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (await createExclusively(path, content)) return null;
    const holder = await readHolder(path);
    if (holder !== null && !isAlive(holder.pid)) {
      if (await stealLock(path, content, holder)) return holder;
    }
    await sleep(WAIT_MS);
  }
  throw repositoryError("worktree_busy", `another jpg process holds ${path}`, {
    hints: ["wait for it and run the command again", `when no jpg runs, remove ${path} and ${path}.steal`],
  });
}

/** Takes a dead holder's lock; only one process at a time may try, so that none removes a lock just taken. */
async function stealLock(path: string, content: string, dead: LockedStep): Promise<boolean> {
  if (!(await createExclusively(`${path}.steal`, ""))) return false;
  try {
    const holder = await readHolder(path);
    if (holder?.pid !== dead.pid) return false;
    await rm(path, { force: true });
    return await createExclusively(path, content);
  } finally {
    await rm(`${path}.steal`, { force: true });
  }
}

async function createExclusively(path: string, content: string): Promise<boolean> {
  try {
    const file = await open(path, "wx");
    await file.writeFile(content);
    await file.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
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

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
