// What the system says of a process by its number.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { codeOf } from "../../core/errors.ts";

/** What Linux's process table says of a process. */
export interface ProcessEntry {
  /** Clock ticks since the system started. */
  readonly started: string;
  /** It has ended, and stays in the table because nobody asked how: so in containers without an init process. */
  readonly isDead: boolean;
}

/** Reads the entry of a process; null where there is no such table, or the process is not in it. */
export async function readProcessEntry(pid: number): Promise<ProcessEntry | null> {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name of the program, in parentheses, may hold blanks and parentheses; the start is the 20th field after it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state = "", started] = [fields[0], fields[19]];
    return started === undefined ? null : { started, isDead: /^[ZXx]/.test(state) };
  } catch {
    return null;
  }
}

/** Whether the number is some process's; that one may have ended all the same (`isDead`). */
export function existsProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process exists too.
    return codeOf(error) === "EPERM";
  }
}

/** Asks `ps`, for systems without a process table in files. Gives its output; empty when it says nothing. */
export function askPs(args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const options = { cwd: "/", env: { LC_ALL: "C" }, timeout: 5000 };
    execFile("/bin/ps", args, options, (error, stdout) => resolve(error === null ? stdout : ""));
  });
}
