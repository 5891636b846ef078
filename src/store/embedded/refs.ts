// Moves refs by compare-and-swap, compatible with a git that does the same: locks a ref as git does, compares, and renames into
// place.
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf, repositoryError } from "../../core/errors.ts";
import { foldersOf, holdSignals, renameFile, syncFolders } from "../files.ts";
import { requireOwnGitDir } from "../git-dir.ts";
import { isAbandoned } from "../locks.ts";
import {
  listRefs,
  openReflogs,
  type RefPlace,
  readHeadFile,
  readRefFile,
  refInTheWay,
  targetOf,
} from "../ref-files.ts";

/** A move of one ref: its expected value, null = it must not exist, and the new one. */
export interface RefMove {
  readonly ref: string;
  readonly expected: string | null;
  readonly to: string;
}

/**
 * Moves a ref, or the target of a symbolic one; false, with nothing changed, when it has another value. Throws `ref_locked`,
 * `ref_in_the_way`, `store_unsafe`, with nothing changed.
 */
export async function moveRef(repository: RefPlace, move: RefMove, message: string): Promise<boolean> {
  if (!repository.isOnDisk) return await moveLocked(repository, move, message);
  requireOwnGitDir(repository.gitDir);
  return await holdSignals(async () => {
    const isMoved = await moveLocked(repository, move, message);
    if (isMoved) await syncFolders(foldersOf([join(repository.gitDir, move.ref)]));
    return isMoved;
  });
}

async function moveLocked(
  repository: RefPlace,
  { ref: named, expected, to }: RefMove,
  message: string,
): Promise<boolean> {
  const locks: FileLock[] = [];
  try {
    const ref = await targetOf(repository, named);
    const lock = await lockRef(repository, ref, async () => (await readRefFile(repository, ref)) === expected);
    if (lock === null) return false;
    locks.push(lock);
    const from = await readRefFile(repository, ref);
    if (from !== expected) return false;
    if (from === to) return true;
    if (from === null) await requireFreeName(repository, ref);
    const head = await readHeadFile(repository);
    const isActive = head !== null && "ref" in head && (await targetOf(repository, head.ref)) === ref;
    const headLock = isActive ? await lockFile(repository, join(repository.gitDir, "HEAD")) : null;
    if (headLock !== null) locks.push(headLock);
    await lock.write(`${to}\n`);
    const logs = await openReflogs(repository);
    if (isActive) logs.append("HEAD", { from, to, message });
    logs.append(ref, { from, to, message });
    lock.commit();
    return true;
  } finally {
    for (const lock of locks) lock.release();
  }
}

/** Null when the ref had another value while another process held its lock. */
async function lockRef(repository: RefPlace, ref: string, isWanted: () => Promise<boolean>): Promise<FileLock | null> {
  try {
    return await lockFile(repository, join(repository.gitDir, ref), isWanted);
  } catch (error) {
    // A folder on the way may be a file: the ref of another name.
    await requireFreeName(repository, ref);
    throw error;
  }
}

/** Git keeps refs in files: none may have the name of another's folder. */
async function requireFreeName(repository: RefPlace, ref: string): Promise<void> {
  const parts = ref.split("/");
  for (const name of parts.slice(3).map((_, at) => parts.slice(0, at + 3).join("/")))
    if ((await readRefFile(repository, name)) !== null) throw refInTheWay(repository.root, ref, name);
  const [below] = await listRefs(repository, `${ref}/`);
  if (below !== undefined) throw refInTheWay(repository.root, ref, below.ref);
}

/** A held lock. */
interface FileLock {
  /** Writes and syncs the new content. */
  write(content: string): Promise<void>;
  /** Renames the content into place. */
  commit(): void;
  /** Releases the lock without a change; does nothing after `commit`. */
  release(): void;
}

const ATTEMPTS = 100;
const WAIT_MS = 5;
const LONGEST_WAIT_MS = 40;

/**
 * Locks a file below the git dir; creates its folder. Waits while another process holds it, as long as `isWanted` returns true
 * between attempts; null when it no longer does. Throws `ref_locked` after some seconds.
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

/** Null when another process holds the lock. */
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
      renameFile(lock, path, { rename: (from, to) => fs.renameSync(from, to) });
      isHeld = false;
    },
    release() {
      close();
      if (isHeld) fs.rmSync(lock, { force: true });
      isHeld = false;
    },
  };
}

/** Creates a file and its folder; null when it exists. */
function openNew(fs: RefPlace["fs"], path: string): number | null {
  try {
    fs.mkdirSync(dirname(path), { recursive: true });
    return fs.openSync(path, "wx");
  } catch (error) {
    // ENOENT: another process has just removed the empty folder.
    if (["EEXIST", "ENOENT"].includes(codeOf(error))) return null;
    throw error;
  }
}

/** Deleted refs leave empty folders; git replaces them by a ref of that name. */
function removeEmptyFolder(fs: RefPlace["fs"], path: string): void {
  if (fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  for (const name of fs.readdirSync(path)) removeEmptyFolder(fs, join(path, name));
  fs.rmdirSync(path);
}
