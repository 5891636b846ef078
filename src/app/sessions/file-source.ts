// Session text over a large file that is never in memory as a whole: it is read in blocks, a few of which are kept, and read
// again when lines are asked for again. Every block is known by its checksum, so that all readings are of the same bytes.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { crc32 } from "node:zlib";
import { userError } from "../../core/errors.ts";
import { contentHash } from "../workspace/object-id.ts";
import { type ByteSource, decodeLine, findLineStarts } from "./buffer-source.ts";

/** Bytes of a block. */
const BLOCK_BYTES = 512 * 1024;
/** Blocks kept: more than most turns have, whose lines and bytes are asked for one after the other. */
const KEPT_BLOCKS = 6;
const NEWLINE = 10;

/** Sizes of blocks in bytes, and how many are kept; smaller ones in tests. */
export interface BlockLimits {
  readonly block: number;
  readonly kept: number;
}

/**
 * Creates the line view of a file as it is now; lines that are added later are not seen. Throws what the file system throws,
 * and `file_changed` from every reading once the bytes that were there are not any more.
 */
export function createFileSource(
  path: string,
  limits: BlockLimits = { block: BLOCK_BYTES, kept: KEPT_BLOCKS },
): ByteSource {
  const { size, starts, checksums, hashes } = indexFile(path, limits.block);
  const lineCount = starts.length;
  const start = (index: number): number => starts[index] ?? size;
  const kept = new Map<number, Buffer>();
  const load = (block: number): Buffer => {
    const known = kept.get(block);
    if (known !== undefined) return known;
    const at = block * limits.block;
    const bytes = takeOldest(kept, limits) ?? Buffer.allocUnsafeSlow(limits.block);
    const count = readAt(path, at, bytes, Math.min(limits.block, size - at));
    if (count < Math.min(limits.block, size - at) || crc32(bytes.subarray(0, count)) !== checksums[block])
      throw fileChanged(path);
    kept.set(block, bytes);
    return bytes;
  };
  const slice = (from: number, end: number): Buffer => {
    const result = Buffer.allocUnsafeSlow(Math.max(0, end - from));
    for (let at = from; at < end; ) {
      const offset = at % limits.block;
      at += load((at - offset) / limits.block).copy(
        result,
        at - from,
        offset,
        Math.min(limits.block, offset + end - at),
      );
    }
    return result;
  };
  return {
    lineCount,
    byteLength: size,
    lineStart: start,
    slice,
    text: () => slice(0, size).toString("utf8"),
    sha1(end) {
      const before = Math.max(0, Math.min(Math.floor(end / limits.block), hashes.length - 1));
      return (hashes[before] ?? contentHash())
        .copy()
        .update(slice(before * limits.block, end))
        .digest("hex");
    },
    line(index) {
      const [from, end] = [start(index), start(index + 1)];
      const offset = from % limits.block;
      if (offset + end - from > limits.block) return decodeLine(slice(from, end), 0, end - from);
      return from === end ? "" : decodeLine(load((from - offset) / limits.block), offset, offset + end - from);
    },
  };
}

/** The memory of the block that was read first, when no more may be kept. */
function takeOldest(kept: Map<number, Buffer>, limits: BlockLimits): Buffer | undefined {
  const [oldest] = kept.size < limits.kept ? [] : kept;
  if (oldest === undefined) return undefined;
  kept.delete(oldest[0]);
  return oldest[1];
}

interface FileIndex {
  readonly size: number;
  /** Offsets of the lines' first bytes. */
  readonly starts: readonly number[];
  readonly checksums: readonly number[];
  /** What is hashed of the file before each block, so that any beginning of it is known by reading one block. */
  readonly hashes: readonly ReturnType<typeof contentHash>[];
}

function indexFile(path: string, blockBytes: number): FileIndex {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const starts: number[] = [];
    const checksums: number[] = [];
    const hashes: ReturnType<typeof contentHash>[] = [];
    const hash = contentHash();
    const memory = Buffer.allocUnsafeSlow(blockBytes);
    let isOpen = false;
    for (let at = 0; at < size; at += blockBytes) {
      const block = memory.subarray(0, readFully(file, at, memory, Math.min(blockBytes, size - at)));
      if (block.length < Math.min(blockBytes, size - at)) throw fileChanged(path);
      findLineStarts(block, { at, starts, isOpen });
      isOpen = block[block.length - 1] !== NEWLINE;
      checksums.push(crc32(block));
      hashes.push(hash.copy());
      hash.update(block);
    }
    return { size, starts, checksums, hashes };
  } finally {
    closeSync(file);
  }
}

function readAt(path: string, at: number, target: Buffer, count: number): number {
  const file = openSync(path, "r");
  try {
    return readFully(file, at, target, count);
  } finally {
    closeSync(file);
  }
}

/** Reads up to `count` bytes; fewer only where the file ends. */
function readFully(file: number, at: number, target: Buffer, count: number): number {
  let filled = 0;
  let read: number;
  do {
    read = readSync(file, target, filled, count - filled, at + filled);
    filled += read;
  } while (read > 0 && filled < count);
  return filled;
}

function fileChanged(path: string): Error {
  return userError("file_changed", `${path} was rewritten while it was read.`, {
    hints: ["Nothing of it was imported. Import it again when the other program has finished writing."],
    data: { path },
  });
}
