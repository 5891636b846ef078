// The binary form of a git tree object, SHA-1: `<mode> <name>\0<20 bytes>` per entry, in git's order.
import type { TreeFile } from "../store.ts";
import type { BlobReader } from "./objects.ts";

export interface TreeEntry {
  readonly name: string;
  readonly oid: string;
  readonly isTree: boolean;
  /** As stored: `40000` for a folder, `100644` for a plain file. */
  readonly mode: string;
  /** Set when it is neither a folder nor a plain file. */
  readonly special?: "link" | "repository";
}

/** Loads the entries of a tree by its id. */
export type LoadTree = (oid: string) => Promise<readonly TreeEntry[]>;

/** By mode. */
const SPECIAL: Readonly<Record<string, TreeEntry["special"]>> = { "120000": "link", "160000": "repository" };

/** Parses a tree object. Names are UTF-8. */
export function parseTree(bytes: Buffer): TreeEntry[] {
  const entries: TreeEntry[] = [];
  let at = 0;
  while (at < bytes.length) {
    const space = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, space);
    if (space < 0 || end < 0) break;
    const mode = bytes.toString("latin1", at, space);
    const entry = {
      name: bytes.toString("utf8", space + 1, end),
      oid: bytes.toString("hex", end + 1, end + 21),
      isTree: bytes[at] === 0x34,
      mode,
    };
    const special = SPECIAL[mode];
    entries.push(special === undefined ? entry : { ...entry, special });
    at = end + 21;
  }
  return entries;
}

/** Formats a tree object from entries in any order. */
export function formatTree(entries: Iterable<Pick<TreeEntry, "name" | "oid" | "mode" | "isTree">>): Buffer {
  const keyed = [...entries].map((entry) => ({
    entry,
    key: Buffer.from(entry.isTree ? `${entry.name}/` : entry.name),
  }));
  keyed.sort((a, b) => Buffer.compare(a.key, b.key));
  return Buffer.concat(
    keyed.flatMap(({ entry }) => [Buffer.from(`${entry.mode} ${entry.name}\0`), Buffer.from(entry.oid, "hex")]),
  );
}

/** Splits a path at its slashes; a trailing slash and empty parts do not count. */
function pathParts(path: string): string[] {
  return path.split("/").filter((part) => part !== "");
}

/** Reads the trees of commits. */
interface TreeReader {
  /** Files under the folders (all when empty), in path order. */
  list(commit: string, under: readonly string[]): Promise<readonly TreeFile[]>;
  /** Object ids of the named files and folders; absent ones are left out. */
  entries(commit: string, paths: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

const CACHED_TREES = 2000;
const IMMUTABLE_NAME = /^[0-9a-f]{40}(\^\{tree\})?$/;

/** Creates a tree reader over a blob reader. */
export function createTreeReader(reader: Pick<BlobReader, "read" | "explainMissing">): TreeReader {
  const trees = new Map<string, Promise<readonly TreeEntry[]>>();
  const load = (name: string): Promise<readonly TreeEntry[]> => {
    // Only ids are cached: another revision may name another tree tomorrow.
    if (!IMMUTABLE_NAME.test(name)) return readTree(reader, name);
    const known = trees.get(name);
    if (known !== undefined) return known;
    const loading = readTree(reader, name);
    loading.catch(() => trees.delete(name));
    if (trees.size >= CACHED_TREES) trees.clear();
    trees.set(name, loading);
    return loading;
  };
  const find = (commit: string, path: string): Promise<TreeEntry | null> =>
    findEntry(load, `${commit}^{tree}`, pathParts(path));
  return {
    async list(commit, under) {
      const folders = under.length === 0 ? [""] : under.map((folder) => pathParts(folder).join("/"));
      const lists = await Promise.all(outermost(folders).map((folder) => listFolder(load, find, commit, folder)));
      return lists.flat();
    },
    async entries(commit, paths) {
      const places = paths.map(placeOf);
      const folders = new Set(places.map(({ folder }) => folder));
      const listed = await Promise.all(
        [...folders].map(async (folder) => [folder, await listNames(load, find, commit, folder)] as const),
      );
      const names = new Map(listed);
      const found = new Map<string, string>();
      for (const [index, { folder, name }] of places.entries()) {
        const oid = names.get(folder)?.get(name);
        if (oid !== undefined) found.set(paths[index] ?? "", oid);
      }
      return found;
    },
  };
}

type Load = (name: string) => Promise<readonly TreeEntry[]>;
type Find = (commit: string, path: string) => Promise<TreeEntry | null>;

async function readTree(
  reader: Pick<BlobReader, "read" | "explainMissing">,
  name: string,
): Promise<readonly TreeEntry[]> {
  const object = await reader.read(name);
  if (object?.type !== "tree") throw await reader.explainMissing(name.replace("^{tree}", ""));
  return parseTree(object.bytes);
}

async function findEntry(load: Load, root: string, parts: readonly string[]): Promise<TreeEntry | null> {
  let entry: TreeEntry = { name: "", oid: root, isTree: true, mode: "40000" };
  for (const part of parts) {
    if (!entry.isTree) return null;
    const next: TreeEntry | undefined = (await load(entry.oid)).find(({ name }) => name === part);
    if (next === undefined) return null;
    entry = next;
  }
  return entry;
}

/** The folder of a path, "" for the root, and the name in it. */
function placeOf(path: string): { readonly folder: string; readonly name: string } {
  const end = path.endsWith("/") ? path.length - 1 : path.length;
  const slash = path.lastIndexOf("/", end - 1);
  return { folder: path.slice(0, Math.max(0, slash)), name: path.slice(slash + 1, end) };
}

/** Object ids by name in a folder; empty when it is missing or no folder. */
async function listNames(load: Load, find: Find, commit: string, folder: string): Promise<ReadonlyMap<string, string>> {
  const entry = await find(commit, folder);
  if (entry?.isTree !== true) return new Map();
  return new Map((await load(entry.oid)).map(({ name, oid }) => [name, oid]));
}

async function listFolder(load: Load, find: Find, commit: string, folder: string): Promise<TreeFile[]> {
  if (folder === "") return listTree(load, `${commit}^{tree}`, "");
  const entry = await find(commit, folder);
  if (entry === null) return [];
  return entry.isTree ? listTree(load, entry.oid, `${folder}/`) : [toFile(folder, entry)];
}

async function listTree(load: Load, oid: string, prefix: string): Promise<TreeFile[]> {
  const lists = await Promise.all(
    (await load(oid)).map((entry) =>
      entry.isTree ? listTree(load, entry.oid, `${prefix}${entry.name}/`) : [toFile(prefix + entry.name, entry)],
    ),
  );
  return lists.flat();
}

function toFile(path: string, { oid, special }: TreeEntry): TreeFile {
  return special === undefined ? { path, oid } : { path, oid, special };
}

/** Drops folders that are inside another, and orders them as git orders paths. */
function outermost(folders: readonly string[]): string[] {
  const unique = [...new Set(folders)];
  const outer = unique.filter((folder) => !unique.some((other) => other !== folder && isInside(folder, other)));
  return outer.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

function isInside(folder: string, other: string): boolean {
  return other === "" || folder.startsWith(`${other}/`);
}
