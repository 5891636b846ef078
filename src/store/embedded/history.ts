// Walks commits: newest first by their dates, as git walks, or no parent before its child, for which all must be known.

import { repositoryError } from "../../core/errors.ts";
import type { LogEntry, LogQuery } from "../conversation-store.ts";
import type { LoadTree } from "../native/objects/tree-object.ts";
import { type Commit, parseCommit } from "../native/writes/commit-object.ts";
import type { EmbeddedObjects } from "./objects.ts";
import { createPathFilter, diffTrees, type FileStep, type PathFilter } from "./trees.ts";

/** A commit and its id. */
export interface FoundCommit extends Commit {
  readonly oid: string;
}

/** Reads commits by id. Throws `object_missing`, `store_damaged`. */
export type ReadCommit = (oid: string) => Promise<FoundCommit>;

const REMEMBERED_COMMITS = 10_000;

/** Creates a reader of commits that remembers them. `cutOff` = commits whose parents a shallow clone lacks. */
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
    if (known.size >= REMEMBERED_COMMITS) known.clear();
    known.set(oid, commit);
    return commit;
  };
}

/** Commits from some on, each once, the newest of those whose children were given first. */
export async function* newestFirst(read: ReadCommit, from: readonly string[]): AsyncGenerator<FoundCommit> {
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

/** All commits from one on, newest first, but no parent before its child whatever their clocks said. */
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

/** Few stand open at once: as many as histories run beside each other. */
function takeNewest(open: FoundCommit[]): FoundCommit | null {
  let newest = 0;
  for (const [at, { committer }] of open.entries()) {
    if (committer.seconds > (open[newest]?.committer.seconds ?? 0)) newest = at;
  }
  return open.splice(newest, 1)[0] ?? null;
}

/** Reads a log as the native engine does; `from` is a commit's id. */
export async function readLog(
  read: ReadCommit,
  load: LoadTree,
  { from, paths = [], limit = Number.POSITIVE_INFINITY, isAside }: LogQuery,
): Promise<readonly LogEntry[]> {
  const entries: LogEntry[] = [];
  const isAsked = createPathFilter(paths);
  // The newest few of all need no look at the rest.
  const isWhole = paths.length > 0 || limit === Number.POSITIVE_INFINITY;
  const commits = isWhole ? await listByHistory(read, from) : newestFirst(read, [from]);
  const own = createOwnHistory(from, paths.length > 0 ? isAside : undefined);
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

/** Commits that belong to a history in which merges may be aside. */
interface OwnHistory {
  has(commit: FoundCommit): boolean;
  /** Told of each commit that belongs to it, none before its children. */
  follow(entry: LogEntry): Promise<void>;
}

function createOwnHistory(from: string, isAside: LogQuery["isAside"]): OwnHistory {
  if (isAside === undefined) return { has: () => true, follow: async () => undefined };
  const own = new Set([from]);
  return {
    has: ({ oid }) => own.has(oid),
    async follow(entry) {
      const { parents } = entry;
      const isMerge = parents.length > 1 && (await isAside(entry));
      for (const parent of isMerge ? parents.slice(0, 1) : parents) own.add(parent);
    },
  };
}

function toEntry({ oid, tree: _, ...rest }: FoundCommit, steps: ReadonlyMap<string, FileStep>): LogEntry {
  const named = (wanted: FileStep): string[] => [...steps].flatMap(([path, step]) => (step === wanted ? [path] : []));
  return { commit: oid, ...rest, added: named("added"), removed: named("removed") };
}

/** What a commit changed; a merge names only what differs from all its parents. */
export async function stepsOf(
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
  // A set gives what is added to it while it is walked.
  for (const oid of holding) for (const child of children.get(oid) ?? []) holding.add(child);
  return holding;
}
