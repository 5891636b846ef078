// Git's own protocol for changing a file that others read (gitrepository-layout(5), `*.lock`): whoever makes the lock file
// exclusively may write the new content into it; renaming it onto the file changes that at once and gives the lock up.
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf, repositoryError } from "../../core/errors.ts";
import { isAbandoned } from "../files/abandoned.ts";
import type { EmbeddedRepository } from "./repository.ts";

/** A lock that is held. */
export interface FileLock {
  /** Writes what the file is to hold, to the disk. */
  write(content: string): Promise<void>;
  /** Puts the content in place. */
  commit(): Promise<void>;
  /** Gives the lock up without a change; nothing happens after `commit`. */
  release(): Promise<void>;
}

const ATTEMPTS = 100;
const WAIT_MS = 5;
const LONGEST_WAIT_MS = 40;

/**
 * Locks a file below the git dir; its folder is made. Waits while another holds it, as long as `isWanted` says so, which is
 * asked between attempts; null when it no longer does. Throws `ref_locked` after some seconds.
 */
export async function lockFile(
  repository: EmbeddedRepository,
  path: string,
  isWanted: () => Promise<boolean> = () => Promise.resolve(true),
): Promise<FileLock | null> {
  const lock = `${path}.lock`;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const held = await tryLock(repository, path);
    if (held !== null) return held;
    if (!(await isWanted())) return null;
    await sleep(Math.min(WAIT_MS + attempt, LONGEST_WAIT_MS));
  }
  if (repository.isOnDisk && (await isAbandoned({ gitDir: repository.gitDir, cwd: repository.root }, lock))) {
    await repository.fs.promises.rm(lock, { force: true });
    const held = await tryLock(repository, path);
    if (held !== null) return held;
  }
  throw repositoryError("ref_locked", `another process holds the lock ${lock}`, {
    hints: [
      "wait for the other process and run the command again",
      "when none runs, wait ten seconds: the next command removes the lock file",
    ],
  });
}

/** Null when somebody else holds the lock. */
async function tryLock({ fs }: EmbeddedRepository, path: string): Promise<FileLock | null> {
  const files = fs.promises;
  const lock = `${path}.lock`;
  const open = () => files.open(lock, "wx");
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open().catch(async (error: unknown) => {
      if (codeOf(error) !== "ENOENT") throw error;
      await files.mkdir(dirname(path), { recursive: true });
      return await open();
    });
  } catch (error) {
    // ENOENT: somebody has just removed the empty folder.
    if (["EEXIST", "ENOENT"].includes(codeOf(error))) return null;
    throw error;
  }
  let isOpen = true;
  let isHeld = true;
  const close = async (): Promise<void> => {
    if (isOpen) await file.close();
    isOpen = false;
  };
  return {
    async write(content) {
      await file.writeFile(content);
      await file.sync();
      await close();
    },
    async commit() {
      await removeEmptyFolder(files, path);
      await files.rename(lock, path);
      isHeld = false;
    },
    async release() {
      await close();
      if (isHeld) await files.rm(lock, { force: true });
      isHeld = false;
    },
  };
}

/** Folders of refs that are gone stay behind, empty; git puts a ref of that name in their place. */
async function removeEmptyFolder(files: EmbeddedRepository["fs"]["promises"], path: string): Promise<void> {
  const isFolder = await files.stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) return;
  for (const name of (await files.readdir(path)) as string[]) await removeEmptyFolder(files, join(path, name));
  await files.rmdir(path);
}
