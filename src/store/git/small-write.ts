// Writes the commits of a small write by itself, object by object, as `git fast-import` and the `git unpack-objects` behind it
// would: same ids, no process. Whatever is not small or not plain is left to git, and so is saying what went wrong.
import { createHash, randomBytes } from "node:crypto";
import { closeSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { JpgError } from "../../core/errors.ts";
import { foldersOf, makeFolders, syncFile, syncFolders } from "../files.ts";
import { formatSignature } from "../ref-files.ts";
import type { BranchWrite, CommitSpec, FileChange, LogEntry, Signature } from "../store.ts";
import type { BlobReader } from "./objects.ts";
import type { Repository } from "./porcelain.ts";
import { formatTree, type LoadTree, parseTree } from "./trees.ts";
import { formatMessage, type ImportedBranch, quotePath } from "./write.ts";

/** Reads what commits are built on. */
export type ObjectReader = Pick<BlobReader, "read">;

/** Many objects make better packs than files; both in all commits of a write. */
const MOST_CHANGES = 32;
const MOST_BYTES = 1024 * 1024;

const OBJECT_ID = /^[0-9a-f]{40}$/;

interface SmallBranch extends BranchWrite {
  readonly parent: string;
  readonly commits: readonly CommitSpec[];
}

/**
 * Writes the commits of all writes; moves no branch. Null when git has to: nothing that git would stumble over was put in place.
 * `onSign` is called for each commit that asks to be signed, before it is written.
 */
export async function writeSmall(
  { gitDir }: Repository,
  { reader, onSign }: { readonly reader: ObjectReader; readonly onSign: () => void },
  writes: Iterable<BranchWrite> | AsyncIterable<BranchWrite>,
): Promise<readonly ImportedBranch[] | null> {
  const small = smallBranches(writes);
  if (small === null) return null;
  for (const { commits } of small) for (const { sign } of commits) if (sign === true) onSign();
  const objects = new Map<string, NewObject>();
  try {
    const written: ImportedBranch[] = [];
    for (const branch of small) written.push(await makeCommits(reader, objects, branch));
    await writeLooseObjects(gitDir, objects.values());
    return written;
  } catch (error) {
    if (error instanceof JpgError || (error as NodeJS.ErrnoException).code !== undefined) return null;
    throw error;
  }
}

/** The branches, when all that is to be written of them is there at once, little, and built on commits of the store. */
function smallBranches(writes: Iterable<BranchWrite> | AsyncIterable<BranchWrite>): readonly SmallBranch[] | null {
  const small: SmallBranch[] = [];
  let [count, bytes] = [0, 0];
  for (const { branch, expected, parent, commits } of listOf(writes) ?? []) {
    const specs = listOf(commits);
    // A store of another kind of ids would have its own here.
    if (specs === null || specs.length === 0 || parent === null || !OBJECT_ID.test(parent)) return null;
    for (const { changes, merges = [] } of specs) {
      const list = listOf(changes);
      if (list === null || merges.length > 1 || !merges.every((commit) => OBJECT_ID.test(commit))) return null;
      count += list.length + 1;
      bytes += list.reduce((sum, change) => sum + sizeOf(change), 0);
    }
    small.push({ branch, expected, parent, commits: specs });
  }
  return small.length > 0 && count <= MOST_CHANGES && bytes <= MOST_BYTES ? small : null;
}

function listOf<T>(source: Iterable<T> | AsyncIterable<T>): readonly T[] | null {
  return Array.isArray(source) ? source : null;
}

function sizeOf(change: FileChange): number {
  return "bytes" in change ? change.bytes.length : 0;
}

async function makeCommits(
  reader: ObjectReader,
  objects: Map<string, NewObject>,
  { branch, expected, parent, commits: specs }: SmallBranch,
): Promise<ImportedBranch> {
  const sink: ObjectSink = {
    write: (type, content) => {
      const object = createObject(type, content);
      objects.set(object.oid, object);
      return Promise.resolve(object.oid);
    },
  };
  const load = async (oid: string): Promise<ReturnType<typeof parseTree>> => {
    const { type, bytes } = await needed(reader, oid);
    if (type !== "tree") throw leftToGit(oid);
    return parseTree(bytes);
  };
  const editor = openTreeEditor(sink, load, (await needed(reader, `${parent}^{tree}`)).oid);
  const commits: string[] = [];
  for (const spec of specs) {
    for (const merged of spec.merges ?? []) await needed(reader, `${merged}^{commit}`);
    for (const change of spec.changes) await makeChange(reader, { sink, editor }, change);
    const tree = await editor.write();
    commits.push(await sink.write("commit", formatCommit(spec, { tree, parent: commits.at(-1) ?? parent })));
  }
  const asked = specs.findIndex(({ sign }) => sign === true);
  const firstSigned = asked < 0 ? specs.length : asked;
  const signed = specs.slice(firstSigned).map(({ message, author, committer, sign, merges = [] }) => ({
    message,
    author,
    committer,
    sign: sign === true,
    merges,
  }));
  return { branch, expected, parent, commits, firstSigned, specs: signed };
}

async function makeChange(
  reader: ObjectReader,
  { sink, editor }: { readonly sink: ObjectSink; readonly editor: TreeEditor },
  change: FileChange,
): Promise<void> {
  if ("remove" in change) await editor.remove(change.path);
  else if ("bytes" in change) await editor.put(change.path, await sink.write("blob", change.bytes));
  else await editor.put(change.path, (await needed(reader, change.oid)).oid);
}

async function needed(
  reader: ObjectReader,
  name: string,
): Promise<NonNullable<Awaited<ReturnType<ObjectReader["read"]>>>> {
  const object = await reader.read(name);
  if (object === null) throw leftToGit(name);
  return object;
}

/** Git says better what is the matter with an object. */
function leftToGit(name: string): JpgError {
  return new JpgError("repository", "object_missing", `${name} is not what it should be.`);
}

// Puts a few objects into a repository as files of their own, as git keeps what is new. Each appears whole and is on the disk
// when it does, whatever `core.fsync` says. One that is there already is put in its place again: its age begins anew, so that a
// `git gc` which runs meanwhile does not take it for something that nobody wants.

/** An object that is not in the repository yet. */
interface NewObject {
  /** 40 hex digits. */
  readonly oid: string;
  /** With git's head, deflated. */
  readonly deflated: Uint8Array;
}

/** Objects are never changed: nobody may write to them. Permission bits, before the umask. */
const READ_ONLY = 0o444;

/** Makes an object of its content. SHA-1. */
export function createObject(type: "blob" | "tree" | "commit", content: Uint8Array): NewObject {
  const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
  return { oid: createHash("sha1").update(whole).digest("hex"), deflated: deflateSync(whole, { level: 1 }) };
}

/** Puts objects in place, in the order given, once all are on the disk. Throws what the file system throws; what was put in place stays. */
async function writeLooseObjects(gitDir: string, objects: Iterable<NewObject>): Promise<void> {
  const drafts: Draft[] = [];
  try {
    for (const object of objects) drafts.push(openDraft(gitDir, object));
    // All at once: the disk is waited for once, not for one after the other.
    await Promise.all(drafts.map(({ file }) => syncFile(file)));
    for (const { path, target } of drafts) renameSync(path, target);
    await syncFolders(foldersOf(drafts.map(({ target }) => target)));
  } finally {
    for (const { file, path } of drafts) {
      closeSync(file);
      rmSync(path, { force: true });
    }
  }
}

/** An object in a file that nobody knows yet. */
interface Draft {
  readonly file: number;
  readonly path: string;
  /** Where it is to stand. */
  readonly target: string;
}

function openDraft(gitDir: string, { oid, deflated }: NewObject): Draft {
  const folder = join(gitDir, "objects", oid.slice(0, 2));
  makeFolders(folder);
  // Git clears files of such names that a crash left.
  const path = join(folder, `tmp_obj_jpg_${process.pid}_${randomBytes(8).toString("hex")}`);
  const file = openSync(path, "wx", READ_ONLY);
  try {
    writeFileSync(file, deflated);
  } catch (error) {
    closeSync(file);
    rmSync(path, { force: true });
    throw error;
  }
  return { file, path, target: join(folder, oid.slice(2)) };
}

/** A commit as it is stored. */
export interface Commit extends Omit<LogEntry, "commit" | "added" | "removed"> {
  readonly tree: string;
}

const NOBODY: Signature = { name: "", email: "", seconds: 0, offsetMinutes: 0 };

/** Formats a commit. Equal to what git makes of the same. */
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

/** Messages that say so are in another encoding than UTF-8; one that this system does not know is read as UTF-8. */
function decode(bytes: Buffer, encoding: string): string {
  try {
    return new TextDecoder(encoding).decode(bytes);
  } catch {
    return bytes.toString("utf8");
  }
}

/** Takes an object and gives its id. */
interface ObjectSink {
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

/** Committer times in seconds since 1970, in the order asked; 0 for an object that has none. Throws `object_missing`. */
export async function readCommitTimes(
  reader: Pick<BlobReader, "readAll">,
  commits: readonly string[],
): Promise<readonly number[]> {
  const times: number[] = [];
  for await (const bytes of reader.readAll(commits)) times.push(parseCommitTime(bytes));
  return times;
}

/** The message follows an empty line: what it says of a committer is not looked at. */
function parseCommitTime(bytes: Uint8Array): number {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  const head = text.slice(0, text.indexOf("\n\n") + 1 || undefined);
  return Number(/^committer .*> (\d+) [+-]\d{4}$/m.exec(head)?.[1] ?? 0);
}
