// Processes that tests look at or leave behind.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Waits up to a minute until none of the processes runs any more; says whether that came. */
export async function areGone(pids: readonly number[]): Promise<boolean> {
  for (let tries = 0; tries < 600 && pids.some(isRunning); tries++) await sleep(100);
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

/** A process that has ended and that nobody has waited for. */
export interface UnreapedProcess {
  readonly pid: number;
  /** Lets the system forget it. */
  release(): void;
}

/** Makes one, where the system has such a thing; else one that is gone. */
export async function endUnreaped(): Promise<UnreapedProcess> {
  // The shell becomes a program that does not know of the shell's child.
  const parent = spawn("sh", ["-c", "true & echo $!; exec sleep 60"], { stdio: ["ignore", "pipe", "ignore"] });
  const pid = await new Promise<number>((resolve) => {
    parent.stdout.on("data", (text) => resolve(Number(text)));
  });
  if (!(await areGone([pid]))) throw new Error(`process ${pid} should have ended`);
  return { pid, release: () => parent.kill() };
}
