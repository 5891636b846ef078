// Makes packs of blobs, beside `git fast-import`: many large blobs are hashed, compared and deflated several times faster than
// by git, and each is the difference to one whole blob at most.
import { createHash } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { threadId } from "node:worker_threads";
import { deflateSync } from "node:zlib";
import { createDeltaEncoder } from "./blob-delta.ts";
import { formatPack, type Pack, type PackedBlob } from "./pack-format.ts";

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
  let blobs: PackedBlob[] = [];
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
      blobs.push({ oid, size: content.length, base: from, deflated: deflateFast(content) });
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

/** Puts a pack in place, its index last: that is what git looks for. One of the same name has the same content. */
function writePack(folder: string, { name, pack, index }: Pack): void {
  mkdirSync(folder, { recursive: true });
  writeDurably(join(folder, `pack-${name}.pack`), pack);
  writeDurably(join(folder, `pack-${name}.idx`), index);
}

/** Removes what a thread of this process left behind when it was ended while it wrote. */
export function removeUnfinished(gitDir: string, thread: number): void {
  try {
    rmSync(join(gitDir, "objects", "pack", temporaryName(thread)), { force: true });
  } catch {
    // Where nothing can be removed nothing was written; git clears such files as well.
  }
}

/** Git clears files of such names that a crash left. */
function temporaryName(thread: number): string {
  return `tmp_jpg_${process.pid}_${thread}`;
}

/** Writes a read-only file as a whole or not at all, and waits until it is on the disk, as git does for packs. */
function writeDurably(path: string, chunks: readonly Uint8Array[]): void {
  const temporary = join(dirname(path), temporaryName(threadId));
  rmSync(temporary, { force: true });
  try {
    const file = openSync(temporary, "wx", 0o444);
    try {
      for (const chunk of chunks) writeWhole(file, chunk);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function writeWhole(file: number, chunk: Uint8Array): void {
  for (let at = 0; at < chunk.length; ) at += writeSync(file, chunk, at);
}
