// Formats and parses git objects without git: blobs, commits, and trees of which some folders change.
import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import { formatTree, type LoadTree } from "../git/trees.ts";
import { formatMessage, quotePath } from "../git/write.ts";
import { formatSignature } from "../ref-files.ts";
import type { CommitSpec, LogEntry, Signature } from "../store.ts";

/** An object that is not in the repository yet. */
interface NewObject {
  /** 40 hex digits. */
  readonly oid: string;
  /** With git's header, deflated. */
  readonly deflated: Uint8Array;
}

/** Creates an object from its content. SHA-1. */
export function createObject(type: "blob" | "tree" | "commit", content: Uint8Array): NewObject {
  const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
  return { oid: createHash("sha1").update(whole).digest("hex"), deflated: deflateSync(whole, { level: 1 }) };
}

/** A commit as it is stored. */
export interface Commit extends Omit<LogEntry, "commit" | "added" | "removed"> {
  readonly tree: string;
}

const NOBODY: Signature = { name: "", email: "", seconds: 0, offsetMinutes: 0 };

/** Formats a commit, byte for byte as git does. */
export function formatCommit(
  { author, committer, message, merges = [] }: Omit<CommitSpec, "changes">,
  { tree, parent }: { readonly tree: string; readonly parent: string | null },
): Buffer {
  const lines = [
    `tree ${tree}`,
    ...[...(parent === null ? [] : [parent]), ...merges].map((id) => `parent ${id}`),
    `author ${formatSignature(author)}`,
    `committer ${formatSignature(committer)}`,
    "",
    formatMessage(message),
  ];
  return Buffer.from(lines.join("\n"));
}

/** Parses a commit; what is missing in a damaged one is empty. */
export function parseCommit(bytes: Buffer): Commit {
  const end = bytes.indexOf("\n\n");
  const head = bytes.toString("utf8", 0, end < 0 ? bytes.length : end).split("\n");
  const values = (name: string): string[] =>
    head.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
  const [tree = ""] = values("tree");
  const [author = ""] = values("author");
  const [committer = ""] = values("committer");
  const [encoding = "utf-8"] = values("encoding");
  return {
    tree,
    parents: values("parent"),
    author: parseSignature(author),
    committer: parseSignature(committer),
    message: `${decode(end < 0 ? bytes.subarray(bytes.length) : bytes.subarray(end + 2), encoding).trimEnd()}\n`,
  };
}

function parseSignature(text: string): Signature {
  const [, name = "", email = "", seconds = "0", zone = "+0000"] =
    /^(.*?) ?<([^>]*)> (\d+) ([+-]\d{4})$/.exec(text) ?? [];
  if (seconds === "0" && email === "") return NOBODY;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3, 5));
  return { name, email, seconds: Number(seconds), offsetMinutes: zone.startsWith("-") ? -minutes : minutes };
}

/** A commit may name another encoding than UTF-8; one that this system does not know is read as UTF-8. */
function decode(bytes: Buffer, encoding: string): string {
  try {
    return new TextDecoder(encoding).decode(bytes);
  } catch {
    return bytes.toString("utf8");
  }
}

/** Writes an object and returns its id. */
interface ObjectSink {
  write(type: "blob" | "tree" | "commit", content: Uint8Array): Promise<string>;
}

/** A tree that is being changed. */
export interface TreeEditor {
  /** Puts a blob at a path, replacing what is there or on the way. Throws `bad_path`. */
  put(path: string, oid: string): Promise<void>;
  /** Removes a file or a folder; does nothing when it is not there. Throws `bad_path`. */
  remove(path: string): Promise<void>;
  /** Writes what changed and returns the id of the root. */
  write(): Promise<string>;
}

interface Entry {
  readonly mode: string;
  readonly isTree: boolean;
  oid: string;
  /** The content of a folder that was opened. */
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

/** Whether a folder contains no file, however deep. */
function isEmpty({ entries }: Folder): boolean {
  return [...entries.values()].every(({ inside }) => inside !== null && isEmpty(inside));
}
