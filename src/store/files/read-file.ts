// The one way in which jpg reads a file of a store or of its worktrees, where a stranger may have put a link to a file of
// the user's, or a pipe on which one waits for ever. What is read is what was looked at.
import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from "node:fs";

/** Whether a link at the end of the path is followed: in git's own files it may be, because git makes some. */
export interface LinkChoice {
  readonly followLink?: boolean;
}

/**
 * Opens a file that is one, for reading. Throws what the file system throws: `ELOOP` for a link, and `EINVAL` for a pipe, a
 * folder, a device. The caller closes it.
 */
export function openOwnFile(path: string, { followLink = false }: LinkChoice = {}): number {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | (followLink ? 0 : constants.O_NOFOLLOW));
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw Object.assign(new Error(`${path} is not a regular file`), { code: "EINVAL", syscall: "open", path });
}

/** Reads a file that is one. Throws as `openOwnFile` does. */
export function readOwnFile(path: string, choice: LinkChoice = {}): Buffer {
  const file = openOwnFile(path, choice);
  try {
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** The same as text. */
export function readOwnText(path: string, choice: LinkChoice = {}): string {
  return readOwnFile(path, choice).toString("utf8");
}

/**
 * Reads a file as text, or gives null when it (or a folder on the way) does not exist. For small files of git's: at once,
 * because a detour through the thread pool costs many times what the reading costs.
 */
export async function readFileIfThere(path: string): Promise<string | null> {
  try {
    const isThere = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
    return isThere ? readOwnText(path, { followLink: true }) : null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR") return null;
    throw error;
  }
}
