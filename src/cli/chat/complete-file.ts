// Completion of the name of a file that a message attaches: `@src/ma` at the end of what was typed.
import { readdir } from "node:fs/promises";
import { resolve } from "node:path";
import type { LineCompletion } from "../editor/complete-text.ts";

/** The beginning of a file's name at the end of a text, quoted or not; as `requestContent` reads it. */
const MENTION = /(?<=^|[\s("'[{])@(?:"[^"\n]*|[^\s"]*)$/;

/** Completes a file's name; null when none is being typed. A folder that cannot be read has no names. */
export async function completeFile(before: string, cwd: string): Promise<LineCompletion | null> {
  const mention = MENTION.exec(before)?.[0];
  if (mention === undefined) return null;
  const isQuoted = mention.startsWith('@"');
  const typed = mention.slice(isQuoted ? 2 : 1);
  const at = typed.lastIndexOf("/") + 1;
  const [folder, beginning] = [typed.slice(0, at), typed.slice(at)];
  const entries = await readdir(resolve(cwd, folder), { withFileTypes: true }).catch(() => []);
  const found = entries
    .filter(({ name }) => name.startsWith(beginning) && (beginning !== "" || !name.startsWith(".")))
    // What cannot be typed cannot be attached.
    .filter(({ name }) => !/[\p{Cc}"]/u.test(name))
    .map((entry) => ({ path: folder + entry.name, isFolder: entry.isDirectory() }));
  // Of several names only the part is typed that they have in common: without a blank, if one of them has none.
  const quotes = isQuoted || found.every(({ path }) => /\s/.test(path));
  return [found.map((file) => mentionOf(file, quotes)).sort(), mention];
}

/** As it is typed; after a folder more is to come. */
function mentionOf({ path, isFolder }: { path: string; isFolder: boolean }, quotes: boolean): string {
  const start = quotes ? `@"${path}` : `@${path}`;
  if (isFolder) return `${start}/`;
  return quotes ? `${start}" ` : `${start} `;
}
