// Where the caches of a store stand: in one folder of the git dir, so that all can be forgotten at once.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Cache } from "../cache.ts";
import { readOwnFile } from "./read-file.ts";
import { makeOwnFolder, replaceFile } from "./replace-file.ts";

const FOLDER = "jpg-cache";
/** Caches that jpg 0.1.0 kept beside the folder, and that say something of conversations. */
const FORMER = ["jpg-list.json", "jpg-event-counts.json", "jpg-sources-1.json", "jpg-auto-1.json"];

/** The folder of the caches in a git dir. */
export function cacheFolder(gitDir: string): string {
  return join(gitDir, FOLDER);
}

/** Opens a cache; nothing is read or made before it is asked for. */
export function openCache(gitDir: string, name: string): Cache {
  const pathOf = (key: string | undefined): string =>
    join(cacheFolder(gitDir), key === undefined ? name : `${name}-${key}`);
  // Not recursive: a store without a git dir on disk has nowhere to keep anything.
  let made: Promise<void> | null = null;
  return {
    read(key) {
      try {
        // At once: a detour through the thread pool costs many times what the reading costs.
        return readOwnFile(pathOf(key));
      } catch {
        return null; // never written, or unreadable
      }
    },
    async write(content, key) {
      try {
        made ??= makeOwnFolder(cacheFolder(gitDir));
        await made;
        await replaceFile(pathOf(key), content, { isCache: true });
      } catch {
        // A store that may only be read does its work each time. A folder that was removed is made anew the next time.
        made = null;
      }
    },
    async drop(key) {
      await rm(pathOf(key), { force: true });
    },
  };
}

/** Forgets all caches of a git dir. */
export async function dropCaches(gitDir: string): Promise<void> {
  for (const name of [FOLDER, ...FORMER]) await rm(join(gitDir, name), { recursive: true, force: true });
}
