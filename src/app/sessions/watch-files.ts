// Waits for files to change: the operating system says so where it can, and after an interval they are looked at in any
// case. Nothing is written, and what cannot be watched (no such folder yet, too many watches) is left to the interval.
import { type FSWatcher, watch } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** A wait for changes; must be closed. */
export interface FileWatch {
  /** Resolves when something changed since it last resolved and was quiet for a moment, when the interval is over, or when the signal ends it. */
  changed(): Promise<void>;
  close(): void;
}

export interface WatchOptions {
  /** The interval, milliseconds. */
  readonly everyMs: number;
  readonly signal: AbortSignal;
}

/** How long nothing may change before a change counts as finished, milliseconds: an agent writes lines in bursts. */
const QUIET_MS = 300;
/** Quiet moments waited for at most, so that an agent that never pauses is imported too. */
const MOST_WAITS = 10;

/** Watches folders, not what is below them; they need not exist. */
export function watchFolders(folders: readonly string[], { everyMs, signal }: WatchOptions): FileWatch {
  const watchers = new Map<string, FSWatcher>();
  let isChanged = false;
  let wake: AbortController | null = null;
  const note = (): void => {
    isChanged = true;
    wake?.abort();
  };
  const forget = (folder: string): void => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  const open = (folder: string): void => {
    try {
      const watcher = watch(folder, note);
      watcher.on("error", () => forget(folder));
      watchers.set(folder, watcher);
    } catch {
      // Not there yet, or no more watches: the interval has to do.
    }
  };
  const openMissing = (): void => {
    for (const folder of folders) if (!watchers.has(folder)) open(folder);
  };
  openMissing();
  return {
    async changed() {
      openMissing();
      if (!isChanged) {
        wake = new AbortController();
        await pause(everyMs, AbortSignal.any([signal, wake.signal]));
        wake = null;
      }
      for (let waits = 0; isChanged && waits < MOST_WAITS && !signal.aborted; waits++) {
        isChanged = false;
        await pause(QUIET_MS, signal);
      }
      isChanged = false;
    },
    close() {
      for (const folder of folders) forget(folder);
    },
  };
}

/** Waits; a signal ends the wait. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
