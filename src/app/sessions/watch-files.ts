// Waits for files to change: the operating system says so where it can, and after an interval they are looked at in any
// case. Nothing is written, and what cannot be watched (too many watches) is left to the interval.
import { existsSync, type FSWatcher, statSync, watch } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A wait for changes; must be closed. */
export interface FileWatch {
  /** Watches these folders from now on, not what is below them. One that is not there is waited for where it would stand. */
  follow(folders: readonly string[]): void;
  /**
   * Resolves when something changed since it last resolved and was quiet for a moment, when the interval (milliseconds) is
   * over, or when the signal ends it. Gives the files that changed, absolute; null = it may be any of them, and the folders.
   */
  changed(everyMs: number): Promise<ReadonlySet<string> | null>;
  close(): void;
}

/** How long nothing may change before a change counts as finished, milliseconds: an agent writes lines in bursts. */
const QUIET_MS = 80;
/** Quiet moments waited for at most, so that an agent that never pauses is imported too. */
const MOST_WAITS = 10;

/** Begins a watch that the signal ends. */
export function watchFolders(signal: AbortSignal): FileWatch {
  const watchers = new Map<string, Watched>();
  let files = new Set<string>();
  let events = 0;
  let wake: AbortController | null = null;
  const note = (path: string): void => {
    files.add(path);
    events += 1;
    wake?.abort();
  };
  const forget = (folder: string): void => {
    watchers.get(folder)?.watcher.close();
    watchers.delete(folder);
  };
  const open = (folder: string): void => {
    const { at, name } = watchable(folder);
    const inode = inodeOf(at);
    try {
      const watcher = watch(at, (_, changed) => {
        // A folder that is waited for is a change of its own; what else goes on where it would stand is not.
        if (name === null) note(changed === null ? at : join(at, changed));
        else if (changed === null || changed === name) note(at);
      });
      watcher.on("error", () => forget(folder));
      watchers.set(folder, { watcher, at, inode });
    } catch {
      // No more watches, or none may be made here: the interval has to do.
    }
  };
  return {
    follow(folders) {
      const wanted = new Set(folders);
      // A folder that was made again, or has come since, is another one.
      for (const [folder, { at, inode }] of [...watchers])
        if (!wanted.has(folder) || watchable(folder).at !== at || inodeOf(at) !== inode) forget(folder);
      for (const folder of wanted) if (!watchers.has(folder)) open(folder);
    },
    async changed(everyMs) {
      if (events === 0) {
        wake = new AbortController();
        await pause(everyMs, AbortSignal.any([signal, wake.signal]));
        wake = null;
      }
      for (let seen = 0, waits = 0; seen !== events && waits < MOST_WAITS && !signal.aborted; waits++) {
        seen = events;
        await pause(QUIET_MS, signal);
      }
      const found = files;
      files = new Set();
      events = 0;
      return found.size > 0 && ![...found].some(isFolder) ? found : null;
    },
    close() {
      for (const folder of [...watchers.keys()]) forget(folder);
    },
  };
}

/** What is watched for a folder: itself, or where it would stand, with the name that is waited for there. */
function watchable(folder: string): { readonly at: string; readonly name: string | null } {
  if (existsSync(folder)) return { at: folder, name: null };
  let missing = folder;
  while (!existsSync(dirname(missing)) && dirname(missing) !== missing) missing = dirname(missing);
  return { at: dirname(missing), name: basename(missing) };
}

/** A folder that is watched, or what stands in for one. */
interface Watched {
  readonly watcher: FSWatcher;
  readonly at: string;
  readonly inode: number | undefined;
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Waits; a signal ends the wait. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
