// Replaces a file at once: readers see the old content or the new, never a part, and a failed write leaves nothing behind.
import { rename, rm, writeFile } from "node:fs/promises";

/** Writes beside the file, then renames. `mode` = permission bits of the new file. Throws what the file system throws. */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  options: { readonly mode?: number } = {},
): Promise<void> {
  const written = `${path}.${process.pid}.tmp`;
  try {
    await writeFile(written, content, options);
    await rename(written, path);
  } finally {
    await rm(written, { force: true });
  }
}
