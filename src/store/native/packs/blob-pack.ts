// Makes packs of blobs, beside `git fast-import`: many large blobs are hashed, compared and deflated several times faster than
// by git, and each is the difference to one whole blob at most.
import { createHash } from "node:crypto";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { createDeltaEncoder } from "./blob-delta.ts";
import { formatPack, type PackedObject } from "./pack-format.ts";
import { writePack } from "./write-pack.ts";

/** Collects blobs for one pack after the other. */
export interface BlobPacker {
  /** Takes a blob. `starts` = it begins a group: the blobs after it are stored as differences to it. The bytes may change afterwards. */
  add(bytes: Uint8Array, starts: boolean): void;
  /** Writes the blobs taken since the last call as a pack. Gives their object ids in the order taken. */
  flush(): readonly string[];
}

/** Blobs between these sizes are stored as differences; bytes. */
const DELTA_BYTES = { min: 64, max: 64 * 1024 * 1024 };

/** Creates a packer for the repository with that directory. */
export function createBlobPacker(gitDir: string): BlobPacker {
  const encoder = createDeltaEncoder();
  const known = new Set<string>();
  let oids: string[] = [];
  let blobs: PackedObject[] = [];
  let base: { readonly position: number; readonly bytes: Uint8Array } | null = null;
  let baseMemory = new Uint8Array(0);
  const keep = (bytes: Uint8Array): Uint8Array => {
    if (baseMemory.length < bytes.length) baseMemory = new Uint8Array(bytes.length);
    baseMemory.set(bytes);
    return baseMemory.subarray(0, bytes.length);
  };
  const deltaOf = (bytes: Uint8Array): Uint8Array | null =>
    base === null || !hasDelta(base.bytes) || !hasDelta(bytes)
      ? null
      : encoder.encode(base.bytes, bytes, bytes.length >> 1);
  return {
    add(bytes, starts) {
      const oid = blobId(bytes);
      oids.push(oid);
      if (starts) base = null;
      if (known.has(oid)) return;
      known.add(oid);
      const delta = deltaOf(bytes);
      const content = delta ?? bytes;
      const from = delta === null ? null : (base?.position ?? null);
      base ??= { position: blobs.length, bytes: keep(bytes) };
      blobs.push({ type: "blob", oid, size: content.length, base: from, deflated: deflateFast(content) });
    },
    flush() {
      const [packed, taken] = [blobs, oids];
      blobs = [];
      oids = [];
      base = null;
      if (packed.length > 0) writePack(join(gitDir, "objects", "pack"), formatPack(packed));
      return taken;
    },
  };
}

function hasDelta(bytes: Uint8Array): boolean {
  return bytes.length >= DELTA_BYTES.min && bytes.length <= DELTA_BYTES.max;
}

/** The git object id (SHA-1) of a blob. */
function blobId(bytes: Uint8Array): string {
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}

/** Deflates at the fastest level: half the room of none, and a later `git gc` keeps it as it is. */
function deflateFast(bytes: Uint8Array): Uint8Array {
  // A copy, without the rest of zlib's chunk that would stay in memory with it.
  return new Uint8Array(deflateSync(bytes, { level: 1 }));
}
