// Writes a result to a file the user named: all of it or nothing, except where the name is not an ordinary file (a pipe, a device).
import { chmod, realpath, stat, writeFile } from "node:fs/promises";
import { JpgError, reasonOf, userError } from "../../core/errors.ts";
import { type FileContent, replaceFile } from "../../store/files.ts";
import { userFileMode } from "./user-umask.ts";

/**
 * Writes the file, replacing what is there; a new one has the mode that the user's umask gives. Throws `cannot_write`, or what
 * making the content throws, and leaves what was there.
 */
export async function writeResultFile(path: string, content: FileContent): Promise<void> {
  try {
    const found = await stat(path).catch(() => null);
    if (found !== null && !found.isFile()) return await writeFile(path, content);
    const target = found === null ? path : await realpath(path);
    await replaceFile(target, content);
    await chmod(target, found === null ? userFileMode() : found.mode & 0o777);
  } catch (error) {
    if (error instanceof JpgError) throw error;
    throw userError("cannot_write", `${path} cannot be written: ${reasonOf(error)}.`, {
      hints: ["Name a file in a folder that exists and that you can write to."],
      cause: error,
    });
  }
}
