// Resolves what a commit is named with as git does (gitrevisions(7)): refs, ids and unique beginnings of them, and steps to
// ancestors. What else git knows (`@{1}`, `:/text`) names nothing here.
import { readHeadFile, readRefFile } from "../refs/ref-files.ts";
import { isBranchName } from "../refs/ref-name.ts";
import type { ReadCommit } from "./history.ts";
import type { EmbeddedObjects } from "./objects.ts";
import type { EmbeddedRepository } from "./repository.ts";

const REVISION = /^([^~^]+)((?:[~^]\d*)*)(?:\^\{commit\})?$/;
/** Where git looks for a ref that is not named in full, in this order. */
const PLACES = ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"];
/** Tags of tags that are followed. */
const DEEPEST = 5;

/** What a revision is looked up with; `head` = the git dir of the worktree whose HEAD is meant. */
interface RevisionTools {
  readonly objects: EmbeddedObjects;
  readonly read: ReadCommit;
  readonly head: string;
}

/** Resolves a revision to the id of a commit that is there; null when it names none. */
export async function resolveRevision(
  repository: Pick<EmbeddedRepository, "fs" | "gitDir" | "isOnDisk">,
  { objects, read, head }: RevisionTools,
  revision: string,
): Promise<string | null> {
  const [, name = "", steps = ""] = REVISION.exec(revision) ?? [];
  const start = await findStart(repository, { objects, head }, name);
  let at = start === null ? null : await peel(objects, start);
  for (const [, kind, count] of steps.matchAll(/([~^])(\d*)/g)) {
    const number = count === "" ? 1 : Number(count);
    // x^2 is the second parent, x~2 the first parent's first parent; x^0 and x~0 are x.
    const [times, parent] = kind === "^" ? [Math.min(number, 1), number] : [number, 1];
    for (let n = 0; n < times && at !== null; n++) at = (await read(at)).parents[parent - 1] ?? null;
  }
  return at;
}

async function findStart(
  repository: Pick<EmbeddedRepository, "fs" | "gitDir" | "isOnDisk">,
  { objects, head }: Pick<RevisionTools, "objects" | "head">,
  name: string,
): Promise<string | null> {
  if (/^[0-9a-f]{40}$/.test(name)) return name;
  const ref = name === "@" ? "HEAD" : name;
  if (ref === "HEAD") return await readWorktreeHead(repository, head);
  if (!isBranchName(ref)) return null;
  for (const place of PLACES) {
    const found = await readRefFile(repository, `${place}${ref}`);
    if (found !== null) return found;
  }
  return /^[0-9a-f]{4,39}$/.test(name) ? await objects.expand(name) : null;
}

async function readWorktreeHead(
  repository: Pick<EmbeddedRepository, "fs" | "gitDir" | "isOnDisk">,
  gitDir: string,
): Promise<string | null> {
  const head = await readHeadFile(repository, gitDir);
  if (head === null) return null;
  return "commit" in head ? head.commit : await readRefFile(repository, head.ref);
}

/** The commit that an object is or that a tag names; null when it is neither. */
async function peel(objects: EmbeddedObjects, oid: string, depth: number = DEEPEST): Promise<string | null> {
  const object = await objects.find(oid);
  if (object?.type === "commit") return oid;
  const tagged =
    object?.type === "tag" ? /^object ([0-9a-f]{40})\n/.exec(object.bytes.toString("latin1"))?.[1] : undefined;
  return tagged === undefined || depth === 0 ? null : await peel(objects, tagged, depth - 1);
}
