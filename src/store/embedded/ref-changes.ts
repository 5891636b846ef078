// Changes refs by compare-and-swap, all or none, beside any git that does the same: each ref is locked as git locks it, compared,
// and put in place by renaming. A deletion leaves packed-refs first, so that no old value shows through.
import { dirname, join } from "node:path";
import { repositoryError } from "../../core/errors.ts";
import { listRefs, readHead, readPackedRefs, readRef } from "./ref-files.ts";
import { type FileLock, lockFile } from "./ref-lock.ts";
import { appendReflog, removeReflog } from "./reflog.ts";
import type { EmbeddedRepository } from "./repository.ts";

/** A change of one ref: what it must stand at, and what it is to. Null = not there. */
export interface RefChange {
  readonly ref: string;
  readonly expected: string | null;
  readonly to: string | null;
}

/** Changes refs; false, with nothing changed, when one stands elsewhere. Throws `ref_locked`, `ref_in_the_way`. */
export async function changeRefs(
  repository: EmbeddedRepository,
  changes: readonly RefChange[],
  message: string,
): Promise<boolean> {
  const locks: FileLock[] = [];
  try {
    const sorted = [...changes].sort((a, b) => (a.ref < b.ref ? -1 : 1));
    const held: HeldChange[] = [];
    for (const change of sorted) {
      const lock = await lockRef(repository, change);
      if (lock === null) return false;
      locks.push(lock);
      held.push({ ...change, lock });
    }
    for (const change of held) {
      if ((await readRef(repository, change.ref)) !== change.expected) return false;
      if (change.expected === null) await requireFreeName(repository, change.ref, changes);
    }
    await applyChanges(repository, held, { message, locks });
    return true;
  } finally {
    for (const lock of locks) await lock.release();
  }
}

interface HeldChange extends RefChange {
  readonly lock: FileLock;
}

/** Null when the ref was seen to stand elsewhere while another held its lock. */
async function lockRef(repository: EmbeddedRepository, { ref, expected }: RefChange): Promise<FileLock | null> {
  const path = join(repository.gitDir, ref);
  try {
    return await lockFile(repository, path, async () => (await readRef(repository, ref)) === expected);
  } catch (error) {
    // A folder on the way is a file: the ref of another name.
    await requireFreeName(repository, ref, []);
    throw error;
  }
}

async function applyChanges(
  repository: EmbeddedRepository,
  changes: readonly HeldChange[],
  { message, locks }: { readonly message: string; readonly locks: FileLock[] },
): Promise<void> {
  const head = await readHead(repository);
  const active = head !== null && "ref" in head ? head.ref : null;
  if (changes.some(({ ref }) => ref === active)) {
    const lock = await lockFile(repository, join(repository.gitDir, "HEAD"));
    if (lock !== null) locks.push(lock);
  }
  for (const { to, lock } of changes) if (to !== null) await lock.write(`${to}\n`);
  const gone = changes.filter(({ to }) => to === null).map(({ ref }) => ref);
  if (gone.length > 0) await removePacked(repository, new Set(gone), locks);
  for (const change of changes) {
    const { ref, to } = change;
    const step = { from: change.expected, to, message };
    if (ref === active) await appendReflog(repository, "HEAD", step);
    if (to === null) await removeRef(repository, change);
    else {
      await appendReflog(repository, ref, step);
      await change.lock.commit();
    }
  }
}

/** Removes the loose file, the log, and the folders that they leave empty. */
async function removeRef(repository: EmbeddedRepository, { ref, lock }: HeldChange): Promise<void> {
  const files = repository.fs.promises;
  await files.rm(join(repository.gitDir, ref), { force: true });
  await removeReflog(repository, ref);
  await lock.release();
  for (const root of [repository.gitDir, join(repository.gitDir, "logs")]) {
    // As git does: `refs/heads` itself stays.
    for (let at = dirname(ref); at.split("/").length > 2; at = dirname(at)) {
      const isRemoved = await files.rmdir(join(root, at)).then(
        () => true,
        () => false,
      );
      if (!isRemoved) break;
    }
  }
}

/** Takes refs out of packed-refs, under its own lock. */
async function removePacked(
  repository: EmbeddedRepository,
  refs: ReadonlySet<string>,
  locks: FileLock[],
): Promise<void> {
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
  await lock.commit();
}

function nameIn(line = ""): string {
  return line.slice(line.indexOf(" ") + 1);
}

/** Git keeps refs in files: none may have the name of another's folder. Those that the same change removes do not count. */
async function requireFreeName(
  repository: EmbeddedRepository,
  ref: string,
  changes: readonly RefChange[],
): Promise<void> {
  const isGoing = (name: string): boolean => changes.some((change) => change.ref === name && change.to === null);
  const parts = ref.split("/");
  const above = parts.slice(3).map((_, at) => parts.slice(0, at + 3).join("/"));
  for (const name of above) {
    if (!isGoing(name) && (await readRef(repository, name)) !== null) throw inTheWay(repository, ref, name);
  }
  const below = (await listRefs(repository, `${ref}/`)).find((found) => !isGoing(found.ref));
  if (below !== undefined) throw inTheWay(repository, ref, below.ref);
}

function inTheWay({ root }: EmbeddedRepository, ref: string, other: string): Error {
  return repositoryError("ref_in_the_way", `${ref} cannot be made in ${root}: ${other} exists`, {
    hints: ["choose another name: none may stand for a conversation and for a folder of them"],
    data: { ref, other },
  });
}
