// Brings names to the disk: a file that was synced before it was renamed is there after a power cut, but only the sync of its
// folder says that its name is.
import { closeSync, constants, fsync, openSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { codeOf } from "../../core/errors.ts";

/** Waits until what was written to a file, or renamed into a folder, is on the disk; by its descriptor. */
export const syncFile: (file: number) => Promise<void> = promisify(fsync);

/** What systems and file systems say that do not sync folders, and of a folder that somebody has just removed. */
const PASSED_OVER = ["EACCES", "EBADF", "EINVAL", "EISDIR", "ENOENT", "ENOTDIR", "ENOTSUP", "EPERM"];

/** Waits until what was renamed into these folders is on the disk; each is waited for once. Throws what a failing disk throws. */
export async function syncFolders(paths: Iterable<string>): Promise<void> {
  await Promise.all([...new Set(paths)].map(syncFolder));
}

/** The folders of files that were just put in place, and those above, which may be new themselves. */
export function foldersOf(paths: Iterable<string>): ReadonlySet<string> {
  return new Set([...paths].flatMap((path) => [dirname(path), dirname(dirname(path))]));
}

async function syncFolder(path: string): Promise<void> {
  try {
    const folder = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      await syncFile(folder);
    } finally {
      closeSync(folder);
    }
  } catch (error) {
    if (!PASSED_OVER.includes(codeOf(error))) throw error;
  }
}
