// The newest commits of a history, read from git's files: a few of them take less than git takes to start. Where history is not
// what commits say (a shallow clone, grafts), where one is not plain, or where many would be read, git has to be asked.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createObjectFiles } from "./object-files.ts";
import { formatTree, parseTree, type TreeEntry } from "./trees.ts";

/** A commit as its object says. */
export interface NearCommit {
  readonly commit: string;
  readonly tree: string;
  readonly parents: readonly string[];
  /** Ends with one line end, as in a log. */
  readonly message: string;
  /** The whole object. */
  readonly bytes: Buffer;
}

/** Reads commits of a repository until closed. */
export interface NearCommits {
  /** Null when git has to be asked. */
  read(commit: string): NearCommit | null;
  /** All that commits reach, in any order, without what lies behind `known`; null when git has to be asked. */
  reached(tips: readonly string[], known?: ReadonlySet<string>): readonly NearCommit[] | null;
  /** The entries of a tree; null when git has to be asked. */
  readTree(tree: string): readonly TreeEntry[] | null;
  close(): void;
}

const FAR = new Error("Git has to be asked.");

/** What was read; throws what `isFar` knows where git has to be asked. */
export function needNear<T>(read: T | null): T {
  if (read === null) throw FAR;
  return read;
}

/** Whether an error says that git has to be asked. */
export function isFar(error: unknown): boolean {
  return error === FAR;
}

/** Commits that are read at most: as many as git takes to start. */
const MOST = 64;

/** Opens the commits of a repository. */
export function openNearCommits(gitDir: string): NearCommits {
  const isTold = ["shallow", "info/grafts"].some((name) => existsSync(join(gitDir, name)));
  const files = createObjectFiles(gitDir);
  const found = new Map<string, NearCommit | null>();
  const trees = new Map<string, readonly TreeEntry[] | null>();
  const read = (commit: string): NearCommit | null => {
    const known = found.get(commit);
    if (known !== undefined) return known;
    if (isTold || found.size >= MOST) return null;
    const object = files.read(commit);
    const near = object?.type === "commit" ? parseNear(commit, object.bytes) : null;
    found.set(commit, near);
    return near;
  };
  return {
    read,
    reached(tips, known = new Set()) {
      const commits: NearCommit[] = [];
      const seen = new Set(tips);
      // A set also gives what is added to it while it is gone through.
      for (const commit of seen) {
        const near = read(commit);
        if (near === null) return null;
        commits.push(near);
        if (!known.has(commit)) for (const parent of near.parents) seen.add(parent);
      }
      return commits;
    },
    readTree(tree) {
      const known = trees.get(tree);
      if (known !== undefined) return known;
      const object = files.read(tree);
      const entries = object?.type === "tree" ? parseTree(object.bytes) : null;
      // Of a tree that is not as git makes them, git says what is wrong.
      const isWhole = entries !== null && formatTree(entries).equals(object?.bytes ?? Buffer.alloc(0));
      trees.set(tree, isWhole ? entries : null);
      return isWhole ? entries : null;
    },
    close: () => files.close(),
  };
}

/** Who and when, as git and jpg write it. */
const SIGNATURE = "[^<>\\s](?:[^<>\\n]*[^<>\\s])? <[^<>\\s]*> \\d{1,12} (?!-0000)[+-]\\d{4}";
/** The head of a commit; signatures of its own and the like may follow. */
const HEAD = new RegExp(
  `^tree ([0-9a-f]{40})\\n((?:parent [0-9a-f]{40}\\n)*)author ${SIGNATURE}\\ncommitter ${SIGNATURE}(?:\\n(?!parent |encoding ).*)*$`,
);

/** Null for one in another encoding, and for one that is not as git makes them. */
function parseNear(commit: string, bytes: Buffer): NearCommit | null {
  const end = bytes.indexOf("\n\n");
  const [, tree, parents = ""] = HEAD.exec(bytes.toString("utf8", 0, Math.max(end, 0))) ?? [];
  if (tree === undefined || bytes.includes(0)) return null;
  const message = `${bytes.toString("utf8", end + 2).trimEnd()}\n`;
  return { commit, tree, parents: parents.match(/[0-9a-f]{40}/g) ?? [], message, bytes };
}

/** Files that a commit changed, by path, in git's order. */
export interface NearChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Whether it changed any, those that were there before and after among them. */
  readonly isTouched: boolean;
}

/**
 * The files below some paths (all when there are none) that a commit changed, a merge those that it has from none of its parents.
 * Throws what `isFar` knows.
 */
export function nearChanges(
  commits: NearCommits,
  { tree, parents }: NearCommit,
  paths: readonly string[],
): NearChanges {
  const before = parents.length === 0 ? [null] : parents.map((parent) => needNear(commits.read(parent)).tree);
  const [first = new Map<string, Status>(), ...others] = before.map((one) => diffTrees(commits, [one, tree], paths));
  const changed = [...first]
    .filter(([path]) => others.every((side) => side.has(path)))
    .map(([path, status]) => ({
      path,
      key: Buffer.from(path),
      statuses: [status, ...others.map((side) => side.get(path))],
    }))
    .sort((one, other) => Buffer.compare(one.key, other.key));
  const withStatus = (wanted: Status): string[] =>
    changed.filter(({ statuses }) => statuses.every((status) => status === wanted)).map(({ path }) => path);
  return { added: withStatus("A"), removed: withStatus("D"), isTouched: changed.length > 0 };
}

type Status = "A" | "D" | "M";
type Trees = readonly [before: string | null, after: string | null];

/** Files that differ between two trees, below the paths, by path. */
function diffTrees(commits: NearCommits, trees: Trees, paths: readonly string[]): ReadonlyMap<string, Status> {
  const files = new Map<string, Status>();
  const isBelow = (path: string): boolean =>
    paths.length === 0 || paths.some((one) => one === path || path.startsWith(`${one}/`));
  const isOnTheWay = (path: string): boolean => isBelow(path) || paths.some((one) => one.startsWith(`${path}/`));
  const walk = (prefix: string, [before, after]: Trees): void => {
    for (const [name, old, now] of differing(entriesOf(commits, before), entriesOf(commits, after))) {
      const path = prefix + name;
      if (!isOnTheWay(path)) continue;
      const inside: Trees = [treeOf(old), treeOf(now)];
      if (inside.some((tree) => tree !== null)) walk(`${path}/`, inside);
      const status = statusOf(isFile(old), isFile(now));
      if (status !== null && isBelow(path)) files.set(path, status);
    }
  };
  walk("", trees);
  return files;
}

type Entries = ReadonlyMap<string, TreeEntry>;

function entriesOf(commits: NearCommits, tree: string | null): Entries {
  const entries = tree === null ? [] : needNear(commits.readTree(tree));
  return new Map(entries.map((entry) => [entry.name, entry]));
}

function differing(
  one: Entries,
  other: Entries,
): readonly (readonly [name: string, old: TreeEntry | undefined, now: TreeEntry | undefined])[] {
  return [...new Set([...one.keys(), ...other.keys()])]
    .map((name) => [name, one.get(name), other.get(name)] as const)
    .filter(([, old, now]) => old?.oid !== now?.oid || old?.mode !== now?.mode);
}

function treeOf(entry: TreeEntry | undefined): string | null {
  return entry?.isTree === true ? entry.oid : null;
}

function isFile(entry: TreeEntry | undefined): boolean {
  return entry?.isTree === false;
}

/** What became of a file; null where it is one neither before nor after. */
function statusOf(was: boolean, is: boolean): Status | null {
  if (was && is) return "M";
  if (was) return "D";
  return is ? "A" : null;
}
