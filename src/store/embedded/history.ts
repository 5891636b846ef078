// Walks commits: newest first by their dates, as git walks, or parents after all children, which reads the whole history.
import { createHash } from "node:crypto";
import { JpgError, repositoryError } from "../../core/errors.ts";
import type { LoadTree } from "../git/trees.ts";
import { type FoundRef, isBranchName, readHeadFile, readRefFile } from "../ref-files.ts";
import type { LogEntry, LogQuery, RewrittenFile, StoreVerdict } from "../store.ts";
import { type Commit, parseCommit } from "./commit-objects.ts";
import { createPathFilter, diffTrees, type EmbeddedObjects, type FileStep, type PathFilter } from "./objects.ts";
import type { EmbeddedRepository } from "./repository.ts";

/** A commit and its id. */
interface FoundCommit extends Commit {
  readonly oid: string;
}

/** Reads commits by id. Throws `object_missing`, `store_damaged`. */
export type ReadCommit = (oid: string) => Promise<FoundCommit>;

const CACHED_COMMITS = 10_000;

/** Creates a caching reader of commits. `cutOff` = commits whose parents a shallow clone lacks. */
export function createCommitReader(objects: EmbeddedObjects, cutOff: () => Promise<ReadonlySet<string>>): ReadCommit {
  const known = new Map<string, FoundCommit>();
  return async (oid) => {
    const found = known.get(oid);
    if (found !== undefined) return found;
    const { type, bytes } = await objects.read(oid);
    if (type !== "commit")
      throw repositoryError("store_damaged", `Object ${oid} is a ${type} where a commit should be.`);
    const parsed = { oid, ...parseCommit(bytes) };
    const commit = (await cutOff()).has(oid) ? { ...parsed, parents: [] } : parsed;
    if (known.size >= CACHED_COMMITS) known.clear();
    known.set(oid, commit);
    return commit;
  };
}

/** Walks commits from some tips, each once, always the newest of those reached so far. */
async function* newestFirst(read: ReadCommit, from: readonly string[]): AsyncGenerator<FoundCommit> {
  const seen = new Set(from);
  const open = await Promise.all([...seen].map(read));
  for (let next = takeNewest(open); next !== null; next = takeNewest(open)) {
    yield next;
    for (const parent of next.parents) {
      if (seen.has(parent)) continue;
      seen.add(parent);
      open.push(await read(parent));
    }
  }
}

/** All commits reachable from one, newest first, but no parent before its child whatever their clocks said. */
async function listByHistory(read: ReadCommit, from: string): Promise<readonly FoundCommit[]> {
  const all = new Map<string, FoundCommit>();
  const children = new Map<string, number>();
  for await (const commit of newestFirst(read, [from])) {
    all.set(commit.oid, commit);
    for (const parent of commit.parents) children.set(parent, (children.get(parent) ?? 0) + 1);
  }
  const sorted: FoundCommit[] = [];
  const ready = [...all.values()].filter(({ oid }) => !children.has(oid));
  for (let next = takeNewest(ready); next !== null; next = takeNewest(ready)) {
    sorted.push(next);
    for (const parent of next.parents) {
      const left = (children.get(parent) ?? 1) - 1;
      children.set(parent, left);
      const commit = all.get(parent);
      if (left === 0 && commit !== undefined) ready.push(commit);
    }
  }
  return sorted;
}

/** Linear search: few commits are open at once, one for each parallel branch. */
function takeNewest(open: FoundCommit[]): FoundCommit | null {
  let newest = 0;
  for (const [at, { committer }] of open.entries()) {
    if (committer.seconds > (open[newest]?.committer.seconds ?? 0)) newest = at;
  }
  return open.splice(newest, 1)[0] ?? null;
}

/** Reads a log like the native engine; `from` is a commit's id. */
export async function readLog(
  read: ReadCommit,
  load: LoadTree,
  { from, paths = [], limit = Number.POSITIVE_INFINITY, firstParentOnly }: LogQuery,
): Promise<readonly LogEntry[]> {
  const entries: LogEntry[] = [];
  const isAsked = createPathFilter(paths);
  // The newest few of all need no look at the rest.
  const isWhole = paths.length > 0 || limit === Number.POSITIVE_INFINITY;
  const commits = isWhole ? await listByHistory(read, from) : newestFirst(read, [from]);
  const own = createOwnHistory(from, paths.length > 0 ? firstParentOnly : undefined);
  for await (const commit of commits) {
    if (entries.length >= limit) break;
    if (!own.has(commit)) continue;
    const steps = await stepsOf(read, load, commit, isAsked);
    const entry = toEntry(commit, steps);
    await own.follow(entry);
    if (paths.length === 0 || steps.size > 0) entries.push(entry);
  }
  return entries;
}

/** Commits that belong to a history in which some merges are followed through their first parent only. */
interface OwnHistory {
  has(commit: FoundCommit): boolean;
  /** Called for each commit that belongs to it, none before its children. */
  follow(entry: LogEntry): Promise<void>;
}

function createOwnHistory(from: string, firstParentOnly: LogQuery["firstParentOnly"]): OwnHistory {
  if (firstParentOnly === undefined) return { has: () => true, follow: async () => undefined };
  const own = new Set([from]);
  return {
    has: ({ oid }) => own.has(oid),
    async follow(entry) {
      const { parents } = entry;
      const isMerge = parents.length > 1 && (await firstParentOnly(entry));
      for (const parent of isMerge ? parents.slice(0, 1) : parents) own.add(parent);
    },
  };
}

function toEntry({ oid, tree: _, ...rest }: FoundCommit, steps: ReadonlyMap<string, FileStep>): LogEntry {
  const named = (wanted: FileStep): string[] => [...steps].flatMap(([path, step]) => (step === wanted ? [path] : []));
  return { commit: oid, ...rest, added: named("added"), removed: named("removed") };
}

/** What a commit changed; a merge names only what differs from all its parents. */
async function stepsOf(
  read: ReadCommit,
  load: LoadTree,
  commit: FoundCommit,
  isAsked: PathFilter,
): Promise<ReadonlyMap<string, FileStep>> {
  const [first, ...others] = commit.parents;
  const diffTo = async (parent: string | undefined): Promise<ReadonlyMap<string, FileStep>> =>
    diffTrees(load, parent === undefined ? null : (await read(parent)).tree, commit.tree, isAsked);
  const steps = new Map(await diffTo(first));
  for (const other of others) {
    const also = await diffTo(other);
    for (const [path, step] of steps) {
      if (!also.has(path)) steps.delete(path);
      else if (also.get(path) !== step) steps.set(path, "changed");
    }
  }
  return steps;
}

/** The tips whose history holds a commit. */
export async function tipsHolding(
  read: ReadCommit,
  tips: readonly string[],
  commit: string,
): Promise<ReadonlySet<string>> {
  const children = new Map<string, string[]>();
  for await (const { oid, parents } of newestFirst(read, tips)) {
    for (const parent of parents) children.set(parent, [...(children.get(parent) ?? []), oid]);
  }
  const holding = new Set([commit]);
  // A set also iterates what is added during the iteration.
  for (const oid of holding) for (const child of children.get(oid) ?? []) holding.add(child);
  return holding;
}

// Resolves a revision as git does (gitrevisions(7)): refs, ids and unique prefixes of them, and steps to ancestors. Git's other
// forms (`@{1}`, `:/text`) resolve to nothing here.

const REVISION = /^([^~^]+)((?:[~^]\d*)*)(?:\^\{commit\})?$/;
/** Where git looks for a ref that is not named in full, in this order. */
const PLACES = ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"];
/** Tags of tags that are followed. */
const DEEPEST = 5;

/** What resolving a revision needs; `head` = the git dir of the worktree whose HEAD is meant. */
interface RevisionTools {
  readonly objects: EmbeddedObjects;
  readonly read: ReadCommit;
  readonly head: string;
}

/** Resolves a revision to the id of an existing commit; null when it names none. */
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

/** Only folders whose files never change or only grow; not `sources`, which a format may rewrite on each save. */
const FOLDERS = ["conversation.json", "turns", "compactions", "config", "meta", "attachments"];

/** Verifies everything that the refs reach; reads each object once. */
export async function verifyObjects(
  { objects, load, read }: { readonly objects: EmbeddedObjects; readonly load: LoadTree; readonly read: ReadCommit },
  refs: readonly FoundRef[],
): Promise<StoreVerdict> {
  const problems: string[] = [];
  const rewritten: RewrittenFile[] = [];
  const sound = new Map<string, boolean>();
  const check = async (oid: string, what: string): Promise<boolean> => {
    const known = sound.get(oid);
    if (known !== undefined) return known;
    const problem = await findProblem(objects, oid, what);
    if (problem !== null) problems.push(problem);
    sound.set(oid, problem === null);
    return problem === null;
  };
  const checkTree = async (oid: string): Promise<void> => {
    if (sound.has(oid) || !(await check(oid, "tree"))) return;
    for (const entry of await load(oid)) {
      if (entry.isTree) await checkTree(entry.oid);
      else if (entry.special !== "repository") await check(entry.oid, "blob");
    }
  };
  const tips = new Set<string>();
  for (const { ref, commit } of refs) {
    if (commit === null) problems.push(`error: ${ref}: holds no commit id`);
    else if (await check(commit, "commit")) tips.add(commit);
  }
  const isSound = async (oid: string): Promise<FoundCommit> => {
    const commit = await read(oid);
    for (const parent of commit.parents) await check(parent, "commit");
    return { ...commit, parents: commit.parents.filter((parent) => sound.get(parent) === true) };
  };
  for await (const commit of newestFirst(isSound, [...tips])) {
    await checkTree(commit.tree);
    if (sound.get(commit.tree) === true) for (const file of await rewritesIn(read, load, commit)) rewritten.push(file);
  }
  return { problems, rewritten };
}

/** Words a problem as git fsck does. */
async function findProblem(objects: EmbeddedObjects, oid: string, what: string): Promise<string | null> {
  try {
    const object = await objects.find(oid);
    if (object === null) return `missing ${what} ${oid}`;
    const { type, bytes } = object;
    const digest = createHash("sha1").update(`${type} ${bytes.length}\0`).update(bytes).digest("hex");
    return digest === oid && type === what ? null : `error: ${oid}: is no ${what} of this id`;
  } catch (error) {
    if (error instanceof JpgError) return `error: ${oid}: ${error.message}`;
    throw error;
  }
}

/** Skips merges; what cannot be compared is a problem already. */
async function rewritesIn(read: ReadCommit, load: LoadTree, commit: FoundCommit): Promise<readonly RewrittenFile[]> {
  const [parent, ...others] = commit.parents;
  if (parent === undefined || others.length > 0) return [];
  try {
    const steps = await stepsOf(read, load, commit, createPathFilter(FOLDERS));
    const changed = [...steps].flatMap(([path, step]) => (step === "changed" ? [path] : []));
    const before = (await read(parent)).tree;
    return await Promise.all(
      changed.map(async (path) => ({
        commit: commit.oid,
        path,
        from: await entryAt(load, before, path),
        to: await entryAt(load, commit.tree, path),
      })),
    );
  } catch (error) {
    if (error instanceof JpgError) return [];
    throw error;
  }
}

async function entryAt(load: LoadTree, tree: string, path: string): Promise<string> {
  let oid = tree;
  for (const part of path.split("/")) oid = (await load(oid)).find(({ name }) => name === part)?.oid ?? "";
  return oid;
}
