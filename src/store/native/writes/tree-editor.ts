// Changes a tree file by file, and writes the folders that changed: what a commit leaves alone is neither read nor written.

import { formatTree, type LoadTree } from "../objects/tree-object.ts";
import { quotePath } from "./fast-import-text.ts";

/** Takes an object and gives its id. */
export interface ObjectSink {
  write(type: "blob" | "tree" | "commit", content: Uint8Array): Promise<string>;
}

/** A tree that is being changed. */
export interface TreeEditor {
  /** Puts a blob at a path, in place of whatever stands there or on the way. Throws `bad_path`. */
  put(path: string, oid: string): Promise<void>;
  /** Removes a file or a folder; nothing happens when it is not there. Throws `bad_path`. */
  remove(path: string): Promise<void>;
  /** Writes what changed and gives the id of the whole. */
  write(): Promise<string>;
}

interface Entry {
  readonly mode: string;
  readonly isTree: boolean;
  oid: string;
  /** What stands in a folder that was looked into. */
  inside: Folder | null;
}

interface Folder {
  readonly entries: Map<string, Entry>;
  isChanged: boolean;
}

const FILE_MODE = "100644";
const FOLDER_MODE = "40000";

/** Opens a tree for changes; null = an empty one. */
export function openTreeEditor(objects: ObjectSink, load: LoadTree, tree: string | null): TreeEditor {
  let root: Folder | null = null;
  const open = async (): Promise<Folder> => {
    root ??= await openFolder(load, tree);
    return root;
  };
  return {
    async put(path, oid) {
      quotePath(path);
      const [name = "", ...folders] = path.split("/").reverse();
      let folder = await open();
      for (const part of folders.reverse()) folder = await enterOrMake(load, folder, part);
      folder.entries.set(name, { mode: FILE_MODE, isTree: false, oid, inside: null });
      folder.isChanged = true;
    },
    async remove(path) {
      quotePath(path);
      const [name = "", ...folders] = path.split("/").reverse();
      const entered = [await open()];
      for (const part of folders.reverse()) {
        const next = await enter(load, entered.at(-1)?.entries.get(part));
        if (next === null) return;
        entered.push(next);
      }
      if (entered.at(-1)?.entries.delete(name) === true) for (const folder of entered) folder.isChanged = true;
    },
    write: async () => writeFolder(objects, await open()),
  };
}

async function openFolder(load: LoadTree, oid: string | null): Promise<Folder> {
  const entries = oid === null ? [] : await load(oid);
  return {
    entries: new Map(entries.map(({ name, mode, isTree, oid: id }) => [name, { mode, isTree, oid: id, inside: null }])),
    isChanged: oid === null,
  };
}

async function enter(load: LoadTree, entry: Entry | undefined): Promise<Folder | null> {
  if (entry?.isTree !== true) return null;
  entry.inside ??= await openFolder(load, entry.oid);
  return entry.inside;
}

async function enterOrMake(load: LoadTree, folder: Folder, name: string): Promise<Folder> {
  folder.isChanged = true;
  const present = await enter(load, folder.entries.get(name));
  if (present !== null) return present;
  const inside: Folder = { entries: new Map(), isChanged: true };
  folder.entries.set(name, { mode: FOLDER_MODE, isTree: true, oid: "", inside });
  return inside;
}

async function writeFolder(objects: ObjectSink, folder: Folder): Promise<string> {
  for (const [name, entry] of folder.entries) {
    if (entry.inside?.isChanged !== true) continue;
    // Git knows no empty folders.
    if (isEmpty(entry.inside)) folder.entries.delete(name);
    else entry.oid = await writeFolder(objects, entry.inside);
  }
  folder.isChanged = false;
  return await objects.write(
    "tree",
    formatTree([...folder.entries].map(([name, { mode, isTree, oid }]) => ({ name, mode, isTree, oid }))),
  );
}

/** Whether no file stands in a folder, however deep. */
function isEmpty({ entries }: Folder): boolean {
  return [...entries.values()].every(({ inside }) => inside !== null && isEmpty(inside));
}
