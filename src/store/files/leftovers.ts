// What processes that were killed left behind: drafts, unfinished packs, locks. Whoever writes next clears it, once its
// writer is gone.
import { readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { appendAll } from "../../core/lists.ts";
import type { Worktree } from "../worktrees.ts";
import { isAbandoned, type StorePlace } from "./abandoned.ts";
import { cacheFolder } from "./cache-folder.ts";
import { fileAge } from "./file-age.ts";
import { writerOfDraft } from "./replace-file.ts";
import { isProcessGone } from "./running-process.ts";

/** Unfinished files that git and jpg make among the packs; git itself clears them after two weeks. */
const UNFINISHED = /^tmp_(pack|idx|rev|jpg)_/;
/** What a fast-import that failed says of itself, for its makers. */
const CRASH_REPORT = /^fast_import_crash_\d+$/;
/** An object that a killed git was writing, in one of the 256 folders of loose objects or beside them. */
const UNFINISHED_OBJECT = /^tmp_obj_/;
/** Folders of loose objects. */
const FAN = /^[0-9a-f]{2}$/;
const LOCKED = [
  /Unable to create '([^'\n]+\.lock)': File exists/,
  /could not lock config file ([^\n]+): File exists/,
] as const;

/**
 * Removes drafts, unfinished packs and reports of failures whose writers are gone; folders in the git dir only, where no stranger's tree ever comes.
 * Never fails: what cannot be removed stays.
 */
export async function clearLeftovers(store: StorePlace, worktrees: readonly Worktree[]): Promise<void> {
  for (const path of await listLeftovers(store, worktrees))
    await remove(path, { recursive: dirname(path) === store.gitDir });
}

/** Lists them: absolute paths. */
export async function listLeftovers(store: StorePlace, worktrees: readonly Worktree[]): Promise<readonly string[]> {
  const { gitDir } = store;
  const own = namesIn(gitDir).filter((name) => name.startsWith("jpg-") || ["hooks", "info"].includes(name));
  const folders = [
    gitDir,
    ...own.map((name) => join(gitDir, name)),
    ...worktrees.flatMap((one) => [one.path, one.gitDir, cacheFolder(one.gitDir)]),
  ];
  const left: string[] = [];
  for (const folder of new Set(folders)) appendAll(left, await listDrafts(folder));
  appendAll(left, await listAbandoned(store, packFolder(store), UNFINISHED));
  appendAll(left, await listAbandoned(store, gitDir, CRASH_REPORT));
  return left;
}

/** Removes what a git that failed just now left among the packs; what another works on stays. Never fails. */
export async function clearUnfinishedPacks(store: StorePlace): Promise<void> {
  for (const path of await listAbandoned(store, packFolder(store), UNFINISHED, 0)) await remove(path);
}

function packFolder({ gitDir }: StorePlace): string {
  return join(gitDir, "objects", "pack");
}

/** Lists the objects that killed gits were writing. It reads every folder of loose objects, so no write waits for it. */
export async function listUnfinishedObjects(store: StorePlace): Promise<readonly string[]> {
  const objects = join(store.gitDir, "objects");
  const folders = namesIn(objects)
    .filter((name) => FAN.test(name))
    .map((name) => join(objects, name));
  const left: string[] = [];
  for (const folder of [objects, ...folders]) appendAll(left, await listAbandoned(store, folder, UNFINISHED_OBJECT));
  return left;
}

async function listAbandoned(
  store: StorePlace,
  folder: string,
  pattern: RegExp,
  freshMs?: number,
): Promise<readonly string[]> {
  const left: string[] = [];
  for (const name of namesIn(folder).filter((found) => pattern.test(found))) {
    const path = join(folder, name);
    if (await isAbandoned(store, path, freshMs)) left.push(path);
  }
  return left;
}

/** Removes the lock that a git command said was in its way, when nobody holds it; says whether it did. */
export async function clearLock(store: StorePlace, stderr: string): Promise<boolean> {
  const [lock, config] = LOCKED.map((pattern) => pattern.exec(stderr)?.[1]);
  const named = lock ?? (config === undefined ? undefined : `${config}.lock`);
  if (named === undefined) return false;
  const path = resolve(store.cwd, named);
  if (!path.startsWith(resolve(store.gitDir) + sep) || !(await isAbandoned(store, path))) return false;
  return await remove(path);
}

async function listDrafts(folder: string): Promise<readonly string[]> {
  const left: string[] = [];
  for (const name of namesIn(folder)) {
    const writer = writerOfDraft(name);
    const path = join(folder, name);
    if (writer !== null && (await isProcessGone(writer, () => fileAge(path)))) left.push(path);
  }
  return left;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function remove(path: string, { recursive }: { readonly recursive: boolean } = { recursive: false }): Promise<boolean> {
  return rm(path, { recursive }).then(
    () => true,
    () => false,
  );
}
