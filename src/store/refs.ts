// Changes refs by compare-and-swap, all or none, beside any git that does the same: each ref is locked as git locks it, compared,
// and put in place by renaming. A deletion leaves packed-refs first, so that no old value shows through.
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf, repositoryError } from "../core/errors.ts";
import { foldersOf, holdSignals, syncFolders } from "./files.ts";
import { requireOwnGitDir } from "./git-dir.ts";
import { isAbandoned } from "./locks.ts";
import {
  listRefs,
  openReflogs,
  type RefPlace,
  readHeadFile,
  readPackedRefs,
  readRefFile,
  refInTheWay,
  removeReflog,
  targetOf,
} from "./ref-files.ts";

/** A change of one ref: what it must stand at, absent = whatever it does, and what it is to. Null = not there. */
export interface RefChange {
  readonly ref: string;
  readonly expected?: string | null;
  readonly to: string | null;
}

/**
 * Changes refs, or what they name symbolically; false, with nothing changed, when one stands elsewhere. Throws `ref_locked`,
 * `ref_in_the_way`, `store_unsafe`, with nothing changed.
 */
export async function changeRefs(
  repository: RefPlace,
  changes: readonly RefChange[],
  message: string,
): Promise<boolean> {
  const change = () => changeLocked(repository, changes, message);
  if (!repository.isOnDisk) return await change();
  requireOwnGitDir(repository.gitDir);
  return await holdSignals(async () => {
    const isMade = await change();
    if (isMade) await syncFolders(foldersOf(changes.map(({ ref }) => join(repository.gitDir, ref))));
    return isMade;
  });
}

async function changeLocked(repository: RefPlace, changes: readonly RefChange[], message: string): Promise<boolean> {
  const locks: FileLock[] = [];
  try {
    const named = changes.map(async (change) => ({ ...change, ref: await targetOf(repository, change.ref) }));
    const sorted = (await Promise.all(named)).sort((a, b) => (a.ref < b.ref ? -1 : 1));
    const held: HeldChange[] = [];
    for (const { ref, expected, to } of sorted) {
      const isWanted = async (): Promise<boolean> =>
        expected === undefined || (await readRefFile(repository, ref)) === expected;
      const lock = await lockRef(repository, ref, isWanted);
      if (lock === null) return false;
      locks.push(lock);
      const from = await readRefFile(repository, ref);
      if (expected !== undefined && from !== expected) return false;
      if (from === null) await requireFreeName(repository, ref, changes);
      if (from !== to) held.push({ ref, from, to, lock });
    }
    await applyChanges(repository, held, { message, locks });
    return true;
  } finally {
    for (const lock of locks) lock.release();
  }
}

/** A change of a ref that is locked. */
interface HeldChange {
  readonly ref: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly lock: FileLock;
}

/** Null when the ref was seen to stand elsewhere while another held its lock. */
async function lockRef(repository: RefPlace, ref: string, isWanted: () => Promise<boolean>): Promise<FileLock | null> {
  try {
    return await lockFile(repository, join(repository.gitDir, ref), isWanted);
  } catch (error) {
    // A folder on the way is a file: the ref of another name.
    await requireFreeName(repository, ref, []);
    throw error;
  }
}

/** What a change of refs comes with. */
interface Move {
  readonly message: string;
  /** All that are held, for whoever takes one more. */
  readonly locks: FileLock[];
}

async function applyChanges(
  repository: RefPlace,
  changes: readonly HeldChange[],
  { message, locks }: Move,
): Promise<void> {
  const head = await readHeadFile(repository);
  const active = head !== null && "ref" in head ? await targetOf(repository, head.ref) : null;
  if (changes.some(({ ref }) => ref === active)) {
    const lock = await lockFile(repository, join(repository.gitDir, "HEAD"));
    if (lock !== null) locks.push(lock);
  }
  const writes = changes.map(async ({ to, lock }) => (to === null ? undefined : await lock.write(`${to}\n`)));
  // No lock is given up that is still being written.
  const done = await Promise.allSettled(writes);
  for (const one of done) if (one.status === "rejected") throw one.reason;
  const gone = changes.filter(({ to }) => to === null).map(({ ref }) => ref);
  if (gone.length > 0) await removePacked(repository, new Set(gone), locks);
  const logs = await openReflogs(repository);
  for (const change of changes) {
    const { ref, to } = change;
    const step = { from: change.from, to, message };
    if (ref === active) logs.append("HEAD", step);
    if (to === null) removeRef(repository, change);
    else {
      logs.append(ref, step);
      change.lock.commit();
    }
  }
}

/** Removes the loose file, the log, and the folders that they leave empty. */
function removeRef(repository: RefPlace, { ref, lock }: HeldChange): void {
  const { fs, gitDir } = repository;
  fs.rmSync(join(gitDir, ref), { force: true });
  removeReflog(repository, ref);
  lock.release();
  // As git does: `refs/heads` itself stays.
  for (const root of [gitDir, join(gitDir, "logs")]) {
    for (let at = dirname(ref); at.split("/").length > 2; at = dirname(at))
      if (!removeFolder(fs, join(root, at))) break;
  }
}

/** False when something stands in it, or it is gone. */
function removeFolder(fs: RefPlace["fs"], path: string): boolean {
  try {
    fs.rmdirSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Takes refs out of packed-refs, under its own lock. */
async function removePacked(repository: RefPlace, refs: ReadonlySet<string>, locks: FileLock[]): Promise<void> {
  const lock = await lockFile(repository, join(repository.gitDir, "packed-refs"));
  if (lock === null) return;
  locks.push(lock);
  const lines = ((await readPackedRefs(repository)) ?? "").split("\n");
  // A line that begins with ^ belongs to the one before it.
  const isGone = (at: number): boolean =>
    refs.has(lines[at]?.startsWith("^") === true ? nameIn(lines[at - 1]) : nameIn(lines[at]));
  const kept = lines.filter((_, at) => !isGone(at));
  if (kept.length === lines.length) return;
  await lock.write(kept.join("\n"));
  lock.commit();
}

function nameIn(line = ""): string {
  return line.slice(line.indexOf(" ") + 1);
}

/** Git keeps refs in files: none may have the name of another's folder. Those that the same change removes do not count. */
async function requireFreeName(repository: RefPlace, ref: string, changes: readonly RefChange[]): Promise<void> {
  const isGoing = (name: string): boolean => changes.some((change) => change.ref === name && change.to === null);
  const parts = ref.split("/");
  const above = parts.slice(3).map((_, at) => parts.slice(0, at + 3).join("/"));
  for (const name of above) {
    if (!isGoing(name) && (await readRefFile(repository, name)) !== null) throw refInTheWay(repository.root, ref, name);
  }
  const below = (await listRefs(repository, `${ref}/`)).find((found) => !isGoing(found.ref));
  if (below !== undefined) throw refInTheWay(repository.root, ref, below.ref);
}

/** A lock that is held. */
interface FileLock {
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
