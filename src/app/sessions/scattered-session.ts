// Sessions that an agent keeps in many small files: found by the one that describes the session, read as one text.
import { readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { codeOf } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import type { ScatterRule } from "../../formats/session-source.ts";
import { MOST_OF_A_SESSION, readRegularFile } from "./regular-file.ts";
import { agents, namesIn } from "./session-registry.ts";

/** Files that are open at the same time. */
const AT_ONCE = 32;

/** The files of the session that a path describes, absolute; none where it is a session by itself. */
export function scatteredFiles(path: string): readonly string[] {
  return findRule(path)?.files ?? [];
}

/** Reads the session that a path describes; null where it is a session by itself. Throws what reading a file throws. */
export async function readScattered(path: string): Promise<Buffer | null> {
  const found = findRule(path);
  if (found === null) return null;
  const { rule, files } = found;
  const root = commonFolder(files);
  const texts: (string | null)[] = [];
  let room = MOST_OF_A_SESSION;
  for (let at = 0; at < files.length; at += AT_ONCE) {
    const next = await Promise.all(files.slice(at, at + AT_ONCE).map((file) => readText(file, room, file === path)));
    for (const text of next) room -= text?.length ?? 0;
    appendAll(texts, next);
  }
  const named = files.map((file, at) => ({ path: relative(root, file).split(sep).join("/"), text: texts[at] ?? null }));
  return Buffer.from(rule.join(named));
}

function findRule(path: string): { readonly rule: ScatterRule; readonly files: readonly string[] } | null {
  for (const { files: kept } of agents()) {
    const files = kept.scattered?.list({ join, namesIn }, path) ?? null;
    if (kept.scattered !== undefined && files !== null) return { rule: kept.scattered, files };
  }
  return null;
}

/** One that is gone since it was listed, or no regular file, has no text; the one that was named has to have one. */
async function readText(path: string, room: number, isNamed: boolean): Promise<string | null> {
  try {
    return (isNamed ? await readFile(path) : await readRegularFile(path, room)).toString("utf8");
  } catch (error) {
    if (!isNamed && ["ENOENT", "ELOOP", "ENOTDIR"].includes(codeOf(error))) return null;
    throw error;
  }
}

/** The folder that all of them are in. */
function commonFolder(files: readonly string[]): string {
  const [first = [], ...others] = files.map((file) => file.split(sep).slice(0, -1));
  const same = first.findIndex((name, at) => others.some((names) => names[at] !== name));
  return first.slice(0, same < 0 ? first.length : same).join(sep) || sep;
}
