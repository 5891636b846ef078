// Makes a folder with those above it. Node's own `recursive` never ends where a folder answers that what is made in it does not
// exist (/proc, a home that is not mounted), and takes no signal meanwhile.
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { codeOf } from "../../core/errors.ts";

/** Makes a folder and all above it that are missing. Throws what the file system throws; one that is there is no error. */
export function makeFolders(path: string, mode = 0o777): void {
  const missing: string[] = [];
  for (let at = path; !isMadeOrThere(at, mode); at = dirname(at)) missing.unshift(at);
  for (const folder of missing) makeFolder(folder, mode);
}

/** False when the folder above is missing. */
function isMadeOrThere(path: string, mode: number): boolean {
  try {
    makeFolder(path, mode);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT" && dirname(path) !== path) return false;
    throw error;
  }
}

function makeFolder(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error;
  }
}
