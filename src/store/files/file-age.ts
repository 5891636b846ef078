// How old a file is by the clock of the file system that it is on, so that the clocks of two machines are never compared.
import { lstat, open, rm } from "node:fs/promises";
import { draftPath } from "./replace-file.ts";

/** Milliseconds since a file, or a link itself, was written; 0 when that cannot be told, and when it is gone. */
export async function fileAge(path: string): Promise<number> {
  const now = await draftPath(path);
  try {
    await (await open(now, "wx")).close();
    const [one, other] = await Promise.all([lstat(now), lstat(path)]);
    return Math.max(0, one.mtimeMs - other.mtimeMs);
  } catch {
    return 0;
  } finally {
    await rm(now, { force: true }).catch(() => undefined);
  }
}
