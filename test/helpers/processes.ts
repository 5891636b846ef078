// Whether processes still run: for tests of what must not be left behind.
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Waits up to five seconds until none of the processes runs any more; says whether that came. */
export async function areGone(pids: readonly number[]): Promise<boolean> {
  for (let tries = 0; tries < 50 && pids.some(isRunning); tries++) await sleep(100);
  return !pids.some(isRunning);
}

/** One that has ended and was not waited for counts as gone. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
