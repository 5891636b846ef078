// Whether a store has open turns; asked by every command, so it loads nothing.
import { readdir } from "node:fs/promises";

/** Whether a store's folder of journals has one, of a turn that is being talked or of one that was broken off. */
export async function hasJournals(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch(() => []);
  return names.length > 0;
}
