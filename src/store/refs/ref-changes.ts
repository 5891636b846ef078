// Changes refs by compare-and-swap, all or none, beside any git that does the same: each ref is locked as git locks it, compared,
// and put in place by renaming. A deletion leaves packed-refs first, so that no old value shows through.
import { dirname, join } from "node:path";
import { holdSignals } from "../files/hold-signals.ts";
import { requireOwnGitDir } from "../files/own-git-dir.ts";
import { foldersOf, syncFolders } from "../files/sync-folders.ts";
import { listRefs, readHeadFile, readPackedRefs, readRefFile, targetOf } from "./ref-files.ts";
import { type FileLock, lockFile } from "./ref-lock.ts";
import { refInTheWay } from "./ref-name.ts";
import type { RefPlace } from "./ref-place.ts";
import { openReflogs, removeReflog } from "./reflog.ts";

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
