// What belongs to a session beside its own file is read from regular files only, never through a link, and no more than fits.
import { constants } from "node:fs";
import { open } from "node:fs/promises";

/** What is taken of the files of one session at most, bytes. */
export const MOST_OF_A_SESSION: number = 256 * 1024 * 1024;
/** Largest file that is taken, bytes: hosts of git repositories refuse larger ones. */
const LARGEST_FILE = 50 * 1024 * 1024;

/** Reads a regular file, never through a link, of so many bytes at most. Opened first and looked at then: that is what is read. */
export async function readRegularFile(path: string, room: number): Promise<Buffer> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new Error("it is not a regular file any more");
    if (stats.size > LARGEST_FILE) throw new Error(`it has ${stats.size} bytes, more than ${LARGEST_FILE}`);
    if (stats.size > room)
      throw new Error(`together with the files before it, it has more than ${MOST_OF_A_SESSION} bytes`);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}
