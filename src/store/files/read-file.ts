// The one way in which jpg opens a file of a store or of its worktrees that may be there already: a stranger may have put a link
// to a file of the user's, or a pipe on which one waits for ever. What is read or added to is what was looked at.
import { closeSync, constants, fstatSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { codeOf, type JpgError, repositoryError } from "../../core/errors.ts";
import { shellWord } from "../../core/safe-text.ts";

/** Whether a link at the end of the path is followed: in git's own files it may be, because git makes some. */
export interface LinkChoice {
  readonly followLink?: boolean;
}

/**
 * Opens a file that is one, for reading. Throws what the file system throws: `ELOOP` for a link, and `EINVAL` for a
 * folder; `store_unsafe` for a pipe or a device. The caller closes it.
 */
export function openOwnFile(path: string, { followLink = false }: LinkChoice = {}): number {
  return requireFile(path, openSync(path, constants.O_RDONLY | NEVER_WAIT | (followLink ? 0 : constants.O_NOFOLLOW)));
}

/** Opens a file that is one for adding to its end; it is made where it is not there. Throws as `openOwnFile`; the caller closes it. */
export function openForAppending(path: string, mode = 0o600): number {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
  return requireFile(path, openSync(path, O_WRONLY | O_APPEND | O_CREAT | NEVER_WAIT | O_NOFOLLOW, mode));
}

/** Adds text to the end of a file that is one, or is not there. Throws as `openOwnFile`. */
export function appendToOwnFile(path: string, text: string, mode?: number): void {
  const file = openForAppending(path, mode);
  try {
    writeFileSync(file, text);
  } finally {
    closeSync(file);
  }
}

/** For who is at the other end of a pipe. */
const NEVER_WAIT = constants.O_NONBLOCK;

function requireFile(path: string, file: number): number {
  const found = fstatSync(file);
  if (found.isFile()) return file;
  closeSync(file);
  if (!found.isDirectory()) throw notAFile("Nothing is read", path);
  throw Object.assign(new Error(`${path} is not a regular file`), { code: "EINVAL", syscall: "open", path });
}

/** The error of a pipe, a socket or a device where a file is to be; `so` = what is not done. */
export function notAFile(so: string, path: string): JpgError {
  return unsafeAt(`${so}: ${path} is neither a file nor a folder.`, path);
}

/** The error `store_unsafe` of a path. */
export function unsafeAt(message: string, path: string): JpgError {
  return repositoryError("store_unsafe", message, {
    hints: [
      `To see what it is: ls -l ${shellWord(path)}`,
      `To remove it, when you trust the rest of the store: rm ${shellWord(path)}`,
    ],
    data: { path },
  });
}

/** Whether a path, or a folder on the way to it, does not exist. */
export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(codeOf(error));
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
