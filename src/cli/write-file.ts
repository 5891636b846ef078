// Writes a result to a file the user named: all of it or nothing, except where the name is no ordinary file (a pipe, a device).
import { realpath, stat, writeFile } from "node:fs/promises";
import { replaceFile } from "../app/replace-file.ts";
import { messageOf, userError } from "../core/errors.ts";

/** Writes the file, replacing what is there. Throws `cannot_write` and leaves what was there. */
export async function writeResultFile(path: string, content: string | Uint8Array): Promise<void> {
  try {
    const found = await stat(path).catch(() => null);
    if (found !== null && !found.isFile()) return await writeFile(path, content);
    await replaceFile(found === null ? path : await realpath(path), content);
  } catch (error) {
    throw userError("cannot_write", `${path} cannot be written: ${messageOf(error)}.`, {
      hints: ["Name a file in a folder that exists, has room and may be written."],
      cause: error,
    });
  }
}
