// Git's own protocol for changing a file that others read (gitrepository-layout(5), `*.lock`): whoever makes the lock file
// exclusively may write the new content into it; renaming it onto the file changes that at once and gives the lock up.
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf, repositoryError } from "../../core/errors.ts";
import { isAbandoned } from "../files/abandoned.ts";
import type { RefPlace } from "./ref-place.ts";

/** A lock that is held. */
export interface FileLock {
  /** Writes what the file is to hold; done when it is on the disk. */
  write(content: string): Promise<void>;
  /** Puts the content in place. */
  commit(): void;
  /** Gives the lock up without a change; nothing happens after `commit`. */
  release(): void;
}

const ATTEMPTS = 100;
const WAIT_MS = 5;
const LONGEST_WAIT_MS = 40;

/**
 * Locks a file below the git dir; its folder is made. Waits while another holds it, as long as `isWanted` says so, which is
 * asked between attempts; null when it no longer does. Throws `ref_locked` after some seconds.
 */
export async function lockFile(
  repository: RefPlace,
  path: string,
  isWanted: () => Promise<boolean> = () => Promise.resolve(true),
): Promise<FileLock | null> {
  const lock = `${path}.lock`;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const held = tryLock(repository, path);
    if (held !== null) return held;
    if (!(await isWanted())) return null;
    await sleep(Math.min(WAIT_MS + attempt, LONGEST_WAIT_MS));
  }
  if (repository.isOnDisk && (await isAbandoned({ gitDir: repository.gitDir, cwd: repository.root }, lock))) {
    repository.fs.rmSync(lock, { force: true });
    const held = tryLock(repository, path);
    if (held !== null) return held;
  }
  throw repositoryError("ref_locked", `Another process holds the lock ${lock}.`, {
    hints: [
      "Wait for the other process and run the command again.",
      "When none runs, wait ten seconds: the next command removes the lock file.",
    ],
  });
}

/** Null when somebody else holds the lock. */
function tryLock({ fs }: RefPlace, path: string): FileLock | null {
  const lock = `${path}.lock`;
  const file = openNew(fs, lock);
  if (file === null) return null;
  let isOpen = true;
  let isHeld = true;
  const close = (): void => {
    if (isOpen) fs.closeSync(file);
    isOpen = false;
  };
  return {
    async write(content) {
      fs.writeFileSync(file, content);
      await new Promise<void>((resolve, reject) => {
        fs.fsync(file, (error) => (error === null || error === undefined ? resolve() : reject(error)));
      });
      close();
    },
    commit() {
      removeEmptyFolder(fs, path);
      fs.renameSync(lock, path);
      isHeld = false;
    },
    release() {
      close();
      if (isHeld) fs.rmSync(lock, { force: true });
      isHeld = false;
    },
  };
}

/** Makes a file and its folder; null when it is there. */
function openNew(fs: RefPlace["fs"], path: string): number | null {
  try {
    fs.mkdirSync(dirname(path), { recursive: true });
    return fs.openSync(path, "wx");
  } catch (error) {
    // ENOENT: somebody has just removed the empty folder.
    if (["EEXIST", "ENOENT"].includes(codeOf(error))) return null;
    throw error;
  }
}

/** Folders of refs that are gone stay behind, empty; git puts a ref of that name in their place. */
function removeEmptyFolder(fs: RefPlace["fs"], path: string): void {
  if (fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  for (const name of fs.readdirSync(path)) removeEmptyFolder(fs, join(path, name));
  fs.rmdirSync(path);
}
