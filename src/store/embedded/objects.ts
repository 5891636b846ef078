// Objects of the embedded engine. They are read from git's files by the readers that the native engine has, and by
// isomorphic-git where those cannot: in memory, or in a pack of an old form. isomorphic-git writes them, each as a file of its own.
import git from "isomorphic-git";
import { type JpgError, repositoryError } from "../../core/errors.ts";
import type { StoredObject } from "../native/objects/batch-parser.ts";
import type { EmbeddedRepository } from "./repository.ts";
import { withSafeWrites } from "./safe-files.ts";

/** The kinds of objects that jpg writes. */
export type ObjectType = "blob" | "tree" | "commit";

/** Reads and writes objects by id. */
export interface EmbeddedObjects {
  /** The object of an id (40 hex digits), or null when there is none. With `atLeast`, its bytes may end after so many. */
  find(oid: string, atLeast?: number): Promise<StoredObject | null>;
  /** The same where it must be there. Throws `object_missing`. */
  read(oid: string, atLeast?: number): Promise<StoredObject>;
  /** Writes an object, unless it is there, and gives its id. */
  write(type: ObjectType, content: Uint8Array): Promise<string>;
  /** The one id that begins so (4 to 40 hex digits); null when there is none, or more. */
  expand(prefix: string): Promise<string | null>;
  /** Objects read so far. */
  readonly count: number;
}

/** Creates the objects of a repository. */
export function createObjects(repository: EmbeddedRepository): EmbeddedObjects {
  const { gitDir: gitdir, cache, files } = repository;
  const fs = withSafeWrites(repository.fs);
  let count = 0;
  const find = async (oid: string, atLeast?: number): Promise<StoredObject | null> => {
    const plain = files?.read(oid, atLeast) ?? null;
    const found =
      plain ?? (await orNull(git.readObject({ fs, gitdir, cache, oid, format: "content" }), repository, oid));
    if (found === null) return null;
    count++;
    const bytes = "bytes" in found ? found.bytes : toBuffer(found.object as Uint8Array);
    return { oid, type: found.type ?? "", bytes };
  };
  return {
    find,
    async read(oid, atLeast) {
      const object = await find(oid, atLeast);
      if (object === null) throw missingObject(repository, oid);
      return object;
    },
    write: (type, object) => git.writeObject({ fs, gitdir, type, object, format: "content" }),
    expand: (oid) => orNull(git.expandOid({ fs, gitdir, cache, oid }), repository, oid),
    get count() {
      return count;
    },
  };
}

/** The error for an object that should be there. */
export function missingObject({ root }: Pick<EmbeddedRepository, "root">, oid: string): JpgError {
  return repositoryError("object_missing", `object ${oid} is not in the store ${root}`, {
    hints: [
      "what else is missing: jpg fsck",
      "bring it back from a copy or a remote of the store; an imported session can be imported again into a new one",
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
    throw repositoryError("store_damaged", `object ${oid} in ${root} cannot be read: ${reason}`, {
      hints: ["what else is damaged: jpg fsck", "restore the store from a copy or a remote"],
      data: { oid },
      cause,
    });
  }
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
