// The one way in which jpg reads a file of a store or of its worktrees, where a stranger may have put a link to a file of
// the user's, or a pipe on which one waits for ever. What is read is what was looked at.
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

/** Whether a link at the end of the path is followed: in git's own files it may be, because git makes some. */
export interface LinkChoice {
  readonly followLink?: boolean;
}

/** Reads a file that is one. Throws what the file system throws: `ELOOP` for a link, and `EINVAL` for a pipe, a folder, a device. */
export function readOwnFile(path: string, { followLink = false }: LinkChoice = {}): Buffer {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | (followLink ? 0 : constants.O_NOFOLLOW));
  try {
    if (fstatSync(file).isFile()) return readFileSync(file);
    throw Object.assign(new Error(`${path} is no regular file`), { code: "EINVAL", syscall: "read", path });
  } finally {
    closeSync(file);
  }
}

/** The same as text. */
export function readOwnText(path: string, choice: LinkChoice = {}): string {
  return readOwnFile(path, choice).toString("utf8");
}
