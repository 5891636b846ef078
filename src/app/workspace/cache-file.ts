// Small files in the user's cache folder. They are only a help: one that cannot be read or written is as good as none, and
// what stands in one is checked by whoever reads it.
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { resolveUserPaths } from "../../config/trust.ts";
import { type Fields, fieldsOf } from "../../core/conversation/event.ts";
import { makeFolders, replaceFile } from "../../store/files.ts";
import type { Runtime } from "./runtime.ts";

/** Reads a file, `name` relative to the cache folder; no fields when there is no JSON object in it. */
export async function readCacheFile(runtime: Runtime, name: string): Promise<Fields> {
  try {
    return fieldsOf(JSON.parse(await readFile(pathOf(runtime, name), "utf8")));
  } catch {
    return {}; // not there, not readable, or not written by jpg
  }
}

/** Writes a file at once. */
export async function writeCacheFile(runtime: Runtime, name: string, fields: Fields): Promise<void> {
  const path = pathOf(runtime, name);
  try {
    makeFolders(dirname(path));
    await replaceFile(path, `${JSON.stringify(fields)}\n`, { isCache: true });
  } catch {
    // A cache folder that is full or not the user's: what would be in it is worked out again next time.
  }
}

function pathOf({ env, home }: Runtime, name: string): string {
  return join(resolveUserPaths(env, home).cacheDir, name);
}
