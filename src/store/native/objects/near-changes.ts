// Which files a commit changed, told from its trees: what `git log -c --name-status` says of it.
import { type NearCommit, type NearCommits, needNear } from "./near-commits.ts";
import type { TreeEntry } from "./tree-object.ts";

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
