// Objects of the embedded engine. Read from git's files by the native engine's readers, and by isomorphic-git where those
// cannot: in memory, or from a pack of an old form. Writes are buffered until they are flushed: a few objects become loose
// files, by isomorphic-git, many one pack, because each file is a wait for the disk.
import { createHash, randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import { deflateSync } from "node:zlib";
import git from "isomorphic-git";
import { asSentence, type JpgError, repositoryError } from "../../core/errors.ts";
import { foldersOf, syncFolders } from "../files.ts";
import type { StoredObject } from "../git/objects.ts";
import { type LoadTree, parseTree, type TreeEntry } from "../git/trees.ts";
import type { FileSystem } from "../ref-files.ts";
import { createObject } from "./commit-objects.ts";
import { formatPack, type PackedObject, packError, writePack } from "./pack-format.ts";
import type { EmbeddedRepository } from "./repository.ts";

/** The kinds of objects that jpg writes. */
type ObjectType = PackedObject["type"];

/** An object that is written and not flushed. */
interface PendingObject extends StoredObject {
  readonly type: ObjectType;
}

/** Reads and writes objects by id. */
export interface EmbeddedObjects {
  /** The object of an id (40 hex digits), or null when there is none. With `atLeast`, its bytes may end after so many. */
  find(oid: string, atLeast?: number): Promise<StoredObject | null>;
  /** Like find, for an object that must be there. Throws `object_missing`. */
  read(oid: string, atLeast?: number): Promise<StoredObject>;
  /** Buffers an object and returns its id; it is in the repository after the next `flush`. The bytes must not change until then. */
  write(type: ObjectType, content: Uint8Array): Promise<string>;
  /** Writes everything buffered to the repository, and syncs it. */
  flush(): Promise<void>;
  /** The one id with this prefix (4 to 40 hex digits); null when there is none, or more. */
  expand(prefix: string): Promise<string | null>;
  /** Objects read so far. */
  readonly count: number;
}

/** Number of objects from which they become a pack, like `fastimport.unpackLimit` for git. */
const UNPACK_LIMIT = 100;
/** Files that are written in parallel. */
const CONCURRENT_WRITES = 16;
/** Limit on buffered objects, bytes. */
const LARGEST_PENDING = 64 * 1024 * 1024;

export function createObjects(repository: EmbeddedRepository): EmbeddedObjects {
  const { gitDir: gitdir, cache, files, isOnDisk } = repository;
  const fs = withSafeWrites(repository.fs);
  const pending = new Map<string, PendingObject>();
  let pendingBytes = 0;
  let count = 0;
  const find = async (oid: string, atLeast?: number): Promise<StoredObject | null> => {
    const plain = pending.get(oid) ?? files.read(oid, atLeast);
    const found =
      plain ?? (await orNull(git.readObject({ fs, gitdir, cache, oid, format: "content" }), repository, oid));
    if (found === null) return null;
    count++;
    const bytes = "bytes" in found ? found.bytes : toBuffer(found.object as Uint8Array);
    return { oid, type: found.type ?? "", bytes };
  };
  const writeFiles = async (objects: readonly PendingObject[]): Promise<void> => {
    for (let at = 0; at < objects.length; at += CONCURRENT_WRITES) {
      const some = objects.slice(at, at + CONCURRENT_WRITES);
      await Promise.all(
        some.map(({ type, bytes }) => {
          // Deflated here: isomorphic-git would use web streams, which take several times as long.
          const { oid, deflated: object } = createObject(type, bytes);
          return git.writeObject({ fs, gitdir, oid, object, format: "deflated" });
        }),
      );
    }
  };
  const flush = async (): Promise<void> => {
    const objects = [...pending.values()];
    try {
      if (isOnDisk && objects.length >= UNPACK_LIMIT) await writePack(join(gitdir, "objects", "pack"), packOf(objects));
      else await writeFiles(objects);
    } catch (cause) {
      throw packError(gitdir, cause);
    }
    // Other objects may have been added meanwhile.
    for (const { oid, bytes } of objects) if (pending.delete(oid)) pendingBytes -= bytes.length;
  };
  return {
    find,
    async read(oid, atLeast) {
      const object = await find(oid, atLeast);
      if (object === null) throw missingObject(repository, oid);
      return object;
    },
    async write(type, content) {
      const oid = createHash("sha1").update(`${type} ${content.length}\0`).update(content).digest("hex");
      if (pending.has(oid)) return oid;
      pending.set(oid, { oid, type, bytes: toBuffer(content) });
      pendingBytes += content.length;
      if (pendingBytes > LARGEST_PENDING) await flush();
      return oid;
    },
    flush,
    expand: (oid) => orNull(git.expandOid({ fs, gitdir, cache, oid }), repository, oid),
    get count() {
      return count;
    },
  };
}

/** Each object whole, deflated at the fastest level: a later `git gc` makes deltas. */
function packOf(objects: readonly PendingObject[]): ReturnType<typeof formatPack> {
  return formatPack(
    objects.map(({ oid, type, bytes }) => ({
      type,
      oid,
      size: bytes.length,
      // A copy, without the rest of zlib's chunk that would stay in memory with it.
      deflated: new Uint8Array(deflateSync(bytes, { level: 1 })),
    })),
  );
}

/** The error for an object that should be there. */
export function missingObject({ root }: Pick<EmbeddedRepository, "root">, oid: string): JpgError {
  return repositoryError("object_missing", `Object ${oid} is not in the store ${root}.`, {
    hints: [
      "`jpg fsck` finds what else is missing.",
      "Restore it from a copy or a remote of the store; an imported session can be imported again into a new one.",
    ],
    data: { oid },
  });
}

/** Null for what is missing or not unique; throws for what cannot be read. */
async function orNull<T>(
  value: Promise<T>,
  { root }: Pick<EmbeddedRepository, "root">,
  oid: string,
): Promise<T | null> {
  try {
    return await value;
  } catch (cause) {
    if (cause instanceof git.Errors.NotFoundError || cause instanceof git.Errors.AmbiguousError) return null;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw repositoryError("store_damaged", `Object ${oid} in ${root} cannot be read: ${asSentence(reason)}`, {
      hints: ["`jpg fsck` finds what else is damaged.", "Restore the store from a copy or a remote."],
      data: { oid },
      cause,
    });
  }
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

// The file system for isomorphic-git: what it writes, only objects, is written under another name, synced and renamed. Its own
// writing leaves half an object when it is interrupted, which then counts as whole.

/** Names that git itself clears from folders of objects (`git gc`). */
const DRAFT = "tmp_obj_jpg_";
/** Objects are never changed: keeps only the read permissions. */
const READABLE = 0o444;

/** Wraps a file system so that `writeFile` makes a file whole or not at all. */
function withSafeWrites({ promises: files }: Pick<FileSystem, "promises">): Pick<FileSystem, "promises"> {
  return {
    promises: {
      ...bound(files),
      writeFile: async (path, content) => {
        const target = String(path);
        const draft = join(dirname(target), `${DRAFT}${process.pid}_${randomBytes(8).toString("hex")}`);
        const file = await files.open(draft, "wx");
        try {
          await file.writeFile(content as Uint8Array);
          await file.chmod((await file.stat()).mode & READABLE);
          await file.sync();
        } finally {
          await file.close();
        }
        await files.rename(draft, target).catch(async (error: unknown) => {
          await files.rm(draft, { force: true });
          throw error;
        });
        await syncFolders(foldersOf([target]));
      },
    },
  };
}

/** Bound methods; isomorphic-git detaches them from the object. */
function bound(files: FileSystem["promises"]): FileSystem["promises"] {
  return {
    appendFile: files.appendFile.bind(files),
    lstat: files.lstat.bind(files),
    mkdir: files.mkdir.bind(files),
    open: files.open.bind(files),
    readdir: files.readdir.bind(files),
    readFile: files.readFile.bind(files),
    readlink: files.readlink.bind(files),
    rename: files.rename.bind(files),
    rm: files.rm.bind(files),
    rmdir: files.rmdir.bind(files),
    stat: files.stat.bind(files),
    symlink: files.symlink.bind(files),
    unlink: files.unlink.bind(files),
    writeFile: files.writeFile.bind(files),
  };
}

/** What happened to a file between two trees. */
export type FileStep = "added" | "removed" | "changed";

/** Whether a path, a file's or a folder's, may contain anything asked for. */
export type PathFilter = (path: string) => boolean;

const CACHED_TREES = 2000;

/** Creates a caching loader of trees. Throws `object_missing`, `store_damaged`. */
export function createTreeLoader(objects: EmbeddedObjects): LoadTree {
  const known = new Map<string, readonly TreeEntry[]>();
  return async (oid) => {
    const found = known.get(oid);
    if (found !== undefined) return found;
    const { type, bytes } = await objects.read(oid);
    if (type !== "tree") throw repositoryError("store_damaged", `Object ${oid} is a ${type} where a tree should be.`);
    const entries = parseTree(bytes);
    if (known.size >= CACHED_TREES) known.clear();
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
