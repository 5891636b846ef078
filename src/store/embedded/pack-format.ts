// The bytes of a pack and of its index, version 2 of each (gitformat-pack(5)): SHA-1, every object stored whole.
import { createHash } from "node:crypto";
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { crc32 } from "node:zlib";
import { asSentence, codeOf, type JpgError, messageOf, repositoryError } from "../../core/errors.ts";
import { makeFolders, renameFile, syncFolders } from "../files.ts";

export interface PackedObject {
  readonly type: "commit" | "tree" | "blob";
  /** 40 hex digits. */
  readonly oid: string;
  /** Length before deflating, bytes. */
  readonly size: number;
  readonly deflated: Uint8Array;
}

/** The files of a pack and its index. */
interface Pack {
  /** SHA-1 of the pack, 40 hex digits; it names both files. */
  readonly name: string;
  readonly pack: readonly Uint8Array[];
  readonly index: readonly Uint8Array[];
}

const TYPES = { commit: 1, tree: 2, blob: 3 } as const;
const FANOUT = 256;

/** Formats objects, all of different ids, in the order given. The pack must stay under 2 GiB. */
export function formatPack(objects: readonly PackedObject[]): Pack {
  const header = Buffer.concat([Buffer.from("PACK"), numbers([2, objects.length])]);
  const chunks: Uint8Array[] = [header];
  const offsets: number[] = [];
  const checksums: number[] = [];
  let at = header.length;
  for (const object of objects) {
    const head = entryHead(object);
    offsets.push(at);
    checksums.push(crc32(object.deflated, crc32(head)));
    chunks.push(head, object.deflated);
    at += head.length + object.deflated.length;
  }
  const checksum = digestOf(chunks);
  const order = objects.map((_, position) => position).sort((a, b) => compare(objects[a]?.oid, objects[b]?.oid));
  const index = [
    Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2]),
    numbers(fanout(objects)),
    Buffer.from(order.map((position) => objects[position]?.oid).join(""), "hex"),
    numbers(order.map((position) => checksums[position] ?? 0)),
    numbers(order.map((position) => offsets[position] ?? 0)),
    checksum,
  ];
  return { name: checksum.toString("hex"), pack: [...chunks, checksum], index: [...index, digestOf(index)] };
}

/** Type and size, lowest bits first. */
function entryHead({ type, size }: PackedObject): Buffer {
  const bytes = [(TYPES[type] << 4) | (size & 0x0f)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push((bytes.pop() ?? 0) | 0x80, rest & 0x7f);
  }
  return Buffer.from(bytes);
}

/** For every first byte the number of ids that begin with it or a lower one. */
function fanout(objects: readonly PackedObject[]): number[] {
  const counts = new Array<number>(FANOUT).fill(0);
  for (const { oid } of objects) {
    const first = Number.parseInt(oid.slice(0, 2), 16);
    counts[first] = (counts[first] ?? 0) + 1;
  }
  let sum = 0;
  return counts.map((count) => (sum += count));
}

function compare(a = "", b = ""): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Numbers of 32 bits, highest byte first. */
function numbers(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, position) => {
    bytes.writeUInt32BE(value, position * 4);
  });
  return bytes;
}

function digestOf(chunks: readonly Uint8Array[]): Buffer {
  const hash = createHash("sha1");
  for (const chunk of chunks) hash.update(chunk);
  return hash.digest();
}

// The errors of a pack that could not be written: the same codes as when git cannot write.

interface PackFailure {
  readonly code: string;
  readonly says: string;
  readonly hint: (gitDir: string) => string;
}

const UNCHANGED = "no conversation was changed.";
const DISK_FULL: PackFailure = {
  code: "disk_full",
  says: "The disk is full",
  hint: (gitDir) => `Free space on the disk of ${gitDir} and run the command again: ${UNCHANGED}`,
};
const NOT_WRITABLE: PackFailure = {
  code: "store_not_writable",
  says: "The store cannot be written",
  hint: (gitDir) => `Make ${gitDir}/objects writable for you, or name another store with --store DIR: ${UNCHANGED}`,
};
const OTHER: PackFailure = {
  code: "pack_not_written",
  says: "A pack could not be written",
  hint: () => `Run the command again: ${UNCHANGED}`,
};

/** By the code of the system's error. */
const FAILURES: Readonly<Record<string, PackFailure>> = {
  ENOSPC: DISK_FULL,
  EDQUOT: DISK_FULL,
  EACCES: NOT_WRITABLE,
  EPERM: NOT_WRITABLE,
  EROFS: NOT_WRITABLE,
};

/** Creates the error of a pack that was not written below a git dir: `disk_full`, `store_not_writable`, `pack_not_written`. */
export function packError(gitDir: string, cause: unknown): JpgError {
  const reason = messageOf(cause);
  const { code, says, hint } = FAILURES[codeOf(cause)] ?? OTHER;
  return repositoryError(code, `${says}: no pack was added to ${gitDir}/objects/pack: ${asSentence(reason)}`, {
    hints: [hint(gitDir)],
    cause,
    data: { where: gitDir },
  });
}

/** Writes a pack, its index last: git looks for the index. One of the same name has the same content. */
export async function writePack(folder: string, { name, pack, index }: Pack): Promise<void> {
  makeFolders(folder);
  writeDurably(join(folder, `pack-${name}.pack`), pack);
  writeDurably(join(folder, `pack-${name}.idx`), index);
  await syncFolders([folder]);
}

/** Writes a read-only file whole or not at all, and syncs it, as git does for packs. */
function writeDurably(path: string, chunks: readonly Uint8Array[]): void {
  // Git clears files of such names after a crash.
  const temporary = join(dirname(path), `tmp_jpg_${process.pid}`);
  rmSync(temporary, { force: true });
  try {
    const file = openSync(temporary, "wx", 0o444);
    try {
      for (const chunk of chunks) writeWhole(file, chunk);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameFile(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function writeWhole(file: number, chunk: Uint8Array): void {
  for (let at = 0; at < chunk.length; ) at += writeSync(file, chunk, at);
}
