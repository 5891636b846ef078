// Objects of the embedded engine. They are read from git's files by the readers that the native engine has, and by
// isomorphic-git where those cannot: in memory, or in a pack of an old form. What is written waits in memory until it is flushed:
// a few objects become files of their own, by isomorphic-git, many one pack, for each file is a wait for the disk.
import { createHash } from "node:crypto";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import git from "isomorphic-git";
import { asSentence, type JpgError, repositoryError } from "../../core/errors.ts";
import type { StoredObject } from "../native/objects/batch-parser.ts";
import { createObject } from "../native/objects/loose-objects.ts";
import { packError } from "./pack-error.ts";
import { formatPack, type PackedObject } from "./pack-format.ts";
import type { EmbeddedRepository } from "./repository.ts";
import { withSafeWrites } from "./safe-files.ts";
import { writePack } from "./write-pack.ts";

/** The kinds of objects that jpg writes. */
export type ObjectType = PackedObject["type"];

/** An object that is written and not flushed. */
interface WaitingObject extends StoredObject {
  readonly type: ObjectType;
}

/** Reads and writes objects by id. */
export interface EmbeddedObjects {
  /** The object of an id (40 hex digits), or null when there is none. With `atLeast`, its bytes may end after so many. */
  find(oid: string, atLeast?: number): Promise<StoredObject | null>;
  /** The same where it must be there. Throws `object_missing`. */
  read(oid: string, atLeast?: number): Promise<StoredObject>;
  /** Takes an object and gives its id; it is in the repository after the next `flush`. The bytes must not change until then. */
  write(type: ObjectType, content: Uint8Array): Promise<string>;
  /** Puts all that was written into the repository, to the disk. */
  flush(): Promise<void>;
  /** The one id that begins so (4 to 40 hex digits); null when there is none, or more. */
  expand(prefix: string): Promise<string | null>;
  /** Objects read so far. */
  readonly count: number;
}

/** Objects from which they become a pack, as `fastimport.unpackLimit` is where git writes. */
const UNPACK_LIMIT = 100;
/** Files that are written at once. */
const BESIDE = 16;
/** What is held in memory before it is flushed; bytes. */
const LARGEST_WAITING = 64 * 1024 * 1024;

/** Creates the objects of a repository. */
export function createObjects(repository: EmbeddedRepository): EmbeddedObjects {
  const { gitDir: gitdir, cache, files, isOnDisk } = repository;
  const fs = withSafeWrites(repository.fs);
  const waiting = new Map<string, WaitingObject>();
  let waitingBytes = 0;
  let count = 0;
  const find = async (oid: string, atLeast?: number): Promise<StoredObject | null> => {
    const plain = waiting.get(oid) ?? files.read(oid, atLeast);
    const found =
      plain ?? (await orNull(git.readObject({ fs, gitdir, cache, oid, format: "content" }), repository, oid));
    if (found === null) return null;
    count++;
    const bytes = "bytes" in found ? found.bytes : toBuffer(found.object as Uint8Array);
    return { oid, type: found.type ?? "", bytes };
  };
  const writeFiles = async (objects: readonly WaitingObject[]): Promise<void> => {
    for (let at = 0; at < objects.length; at += BESIDE) {
      const some = objects.slice(at, at + BESIDE);
      await Promise.all(
        some.map(({ type, bytes }) => {
          // Deflated here: isomorphic-git would do it through streams of the web, which takes several times as long.
          const { oid, deflated: object } = createObject(type, bytes);
          return git.writeObject({ fs, gitdir, oid, object, format: "deflated" });
        }),
      );
    }
  };
  const flush = async (): Promise<void> => {
    const objects = [...waiting.values()];
    try {
      if (isOnDisk && objects.length >= UNPACK_LIMIT) await writePack(join(gitdir, "objects", "pack"), packOf(objects));
      else await writeFiles(objects);
    } catch (cause) {
      throw packError(gitdir, cause);
    }
    // Meanwhile others may have come.
    for (const { oid, bytes } of objects) if (waiting.delete(oid)) waitingBytes -= bytes.length;
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
      if (waiting.has(oid)) return oid;
      waiting.set(oid, { oid, type, bytes: toBuffer(content) });
      waitingBytes += content.length;
      if (waitingBytes > LARGEST_WAITING) await flush();
      return oid;
    },
    flush,
    expand: (oid) => orNull(git.expandOid({ fs, gitdir, cache, oid }), repository, oid),
    get count() {
      return count;
    },
  };
}

/** Each object whole, deflated at the fastest level: a later `git gc` finds the differences. */
function packOf(objects: readonly WaitingObject[]): ReturnType<typeof formatPack> {
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
      "Bring it back from a copy or a remote of the store; an imported session can be imported again into a new one.",
    ],
    data: { oid },
  });
}

/** Null for what is not there or not unique; what cannot be read is an error of its own. */
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
