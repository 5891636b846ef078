// Where a store keeps the journals of open turns; asked by every command, so it loads nothing.
import { readdir } from "node:fs/promises";
import { join } from "node:path";

const FOLDER = "jpg-journal";

/** The folder of journals of a git dir. */
export function journalFolder(gitDir: string): string {
  return join(gitDir, FOLDER);
}

/** Whether a store has a journal, of a turn that is being talked or of one that was broken off. */
export async function hasJournals(gitDir: string): Promise<boolean> {
  const names = await readdir(journalFolder(gitDir)).catch(() => []);
  return names.length > 0;
}
