// Whether a program can be started by its name alone, as a shell or `spawn` would find it.
import { statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Endings of programs on Windows; elsewhere a name is whole. */
const ENDINGS = process.platform === "win32" ? [".exe", ".cmd", ".bat", ".com"] : [""];

/** Where programs are looked for when there is no PATH. */
const USUAL_PATH = "/usr/bin:/bin";

/** Whether one of the folders of a PATH holds a program; a few looks at the disk. */
export function hasProgram(name: string, path: string | undefined): boolean {
  return (path ?? USUAL_PATH)
    .split(delimiter)
    .some((folder) => ENDINGS.some((ending) => isProgram(join(folder === "" ? "." : folder, name + ending))));
}

function isProgram(path: string): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.isFile() === true && (process.platform === "win32" || (found.mode & 0o111) !== 0);
  } catch {
    return false; // a folder that may not be entered
  }
}
