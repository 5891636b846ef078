// Trees of the embedded engine: loaded once, for they never change, and compared folder by folder, so that what two trees share
// is not read.
import { repositoryError } from "../../core/errors.ts";
import { type LoadTree, parseTree, type TreeEntry } from "../native/objects/tree-object.ts";
import type { EmbeddedObjects } from "./objects.ts";

/** What became of a file between two trees. */
export type FileStep = "added" | "removed" | "changed";

/** Whether anything asked for can stand under a path, a file's or a folder's. */
export type PathFilter = (path: string) => boolean;

const REMEMBERED_TREES = 2000;

/** Creates a loader that remembers the trees it loaded last. Throws `object_missing`, `store_damaged`. */
export function createTreeLoader(objects: EmbeddedObjects): LoadTree {
  const known = new Map<string, readonly TreeEntry[]>();
  return async (oid) => {
    const found = known.get(oid);
    if (found !== undefined) return found;
    const { type, bytes } = await objects.read(oid);
    if (type !== "tree") throw repositoryError("store_damaged", `Object ${oid} is a ${type} where a tree should be.`);
    const entries = parseTree(bytes);
    if (known.size >= REMEMBERED_TREES) known.clear();
    known.set(oid, entries);
    return entries;
  };
}

/** A filter for files and folders as `LogQuery.paths` names them; none = all. */
export function createPathFilter(paths: readonly string[]): PathFilter {
  if (paths.length === 0) return () => true;
  const asked = paths.map((path) => path.replace(/\/+$/, ""));
  return (path) => asked.some((one) => path === one || path.startsWith(`${one}/`) || one.startsWith(`${path}/`));
}

/** The files that differ between two trees, null = an empty one, by path. */
export async function diffTrees(
  load: LoadTree,
  from: string | null,
  to: string | null,
  isAsked: PathFilter,
): Promise<ReadonlyMap<string, FileStep>> {
  const steps: [path: string, step: FileStep][] = [];
  const visit = async (before: string | null, after: string | null, prefix: string): Promise<void> => {
    const [old, own] = [await byName(load, before), await byName(load, after)];
    for (const name of new Set([...old.keys(), ...own.keys()])) {
      const [one, other] = [old.get(name), own.get(name)];
      const path = prefix + name;
      if (!isAsked(path) || isSame(one, other)) continue;
      if (treeOf(one) !== treeOf(other)) await visit(treeOf(one), treeOf(other), `${path}/`);
      const step = stepBetween(isFile(one), isFile(other));
      if (step !== null) steps.push([path, step]);
    }
  };
  if (from !== to) await visit(from, to, "");
  return new Map(steps.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
}

function stepBetween(hadFile: boolean, hasFile: boolean): FileStep | null {
  if (hadFile) return hasFile ? "changed" : "removed";
  return hasFile ? "added" : null;
}

function isSame(one: TreeEntry | undefined, other: TreeEntry | undefined): boolean {
  return one?.oid === other?.oid && one?.mode === other?.mode;
}

async function byName(load: LoadTree, oid: string | null): Promise<ReadonlyMap<string, TreeEntry>> {
  return new Map(oid === null ? [] : (await load(oid)).map((entry) => [entry.name, entry]));
}

function treeOf(entry: TreeEntry | undefined): string | null {
  return entry?.isTree === true ? entry.oid : null;
}

function isFile(entry: TreeEntry | undefined): boolean {
  return entry !== undefined && !entry.isTree;
}
