// Files that jpg keeps in a git dir and that are no caches: what stands in them stands nowhere else.
import { join } from "node:path";
import { replaceFile } from "./replace-file.ts";

/** The folder of the journals of open turns in a git dir. */
export function journalFolder(gitDir: string): string {
  return join(gitDir, "jpg-journal");
}

/** Keeps a text under a name, like git's COMMIT_EDITMSG; gives its file, null when it cannot be written. */
export async function keepText(gitDir: string, name: string, text: string): Promise<string | null> {
  const path = join(gitDir, `jpg-${name}.txt`);
  try {
    await replaceFile(path, text);
    return path;
  } catch {
    return null; // no store yet, or no room
  }
}
