// Digests: git's object ids, and content hashes. Node's crypto in one place.
import { createHash, type Hash } from "node:crypto";
import * as z from "zod/mini";

/** An object id as a file may claim it: nothing else ever becomes an argument of git. */
export const objectId: z.ZodMiniString = z.string().check(z.regex(/^[0-9a-f]{40}$/));

/** The git object id (SHA-1) of a blob with these bytes. */
export function blobId(bytes: Uint8Array): string {
  return createHash("sha1").update(`blob ${bytes.byteLength}\0`).update(bytes).digest("hex");
}

/** The git object id (SHA-1) of a tree with these bytes. */
export function treeId(bytes: Uint8Array): string {
  return createHash("sha1").update(`tree ${bytes.byteLength}\0`).update(bytes).digest("hex");
}

export function sha256(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** SHA-1 bytes, for UUIDv5. */
export function sha1Bytes(bytes: Uint8Array): Uint8Array {
  return createHash("sha1").update(bytes).digest();
}

/** A SHA-1 to be fed piece by piece; `copy()` gives what it is so far. */
export function contentHash(): Hash {
  return createHash("sha1");
}
