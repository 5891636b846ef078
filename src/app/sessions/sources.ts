// Session text in a buffer: finds line offsets once, decodes lines on demand.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { crc32 } from "node:zlib";
import { attachmentPath } from "../../core/conversation/attachment.ts";
import { sourcePath } from "../../core/conversation/turn-file.ts";
import { userError } from "../../core/errors.ts";
import type { SessionSource } from "../../formats/session-source.ts";
import type { FileChange } from "../../store/store.ts";
import { sha256 } from "../conversation/runtime.ts";

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;

/** A session file with access to its bytes. */
export interface ByteSource extends SessionSource {
  /** The bytes `[start, end)`; must not be changed. */
  slice(start: number, end: number): Uint8Array;
}

/** A session file in memory; `bytes` are the file's own. */
export interface BufferSource extends ByteSource {
  readonly bytes: Buffer;
}

export function createBufferSource(bytes: Buffer): BufferSource {
  const starts: number[] = [];
  findLineStarts(bytes, { at: 0, starts });
  const lineCount = starts.length;
  const start = (index: number): number => starts[index] ?? bytes.length;
  return {
    bytes,
    lineCount,
    byteLength: bytes.length,
    lineStart: start,
    slice: (from, end) => bytes.subarray(from, end),
    text: () => bytes.toString("utf8"),
    line: (index) => decodeLine(bytes, start(index), start(index + 1)),
  };
}

/** Returns the first bytes of a file as a file. */
export function beginningOf(source: ByteSource, byteLength: number): ByteSource {
  const lineCount = lineAt(source, byteLength - 1) + 1;
  return {
    lineCount,
    byteLength,
    lineStart: (index) => Math.min(source.lineStart(index), byteLength),
    slice: (start, end) => source.slice(start, Math.min(end, byteLength)),
    text: () => Buffer.from(source.slice(0, byteLength)).toString("utf8"),
    line(index) {
      const [start, end] = [source.lineStart(index), source.lineStart(index + 1)];
      return end <= byteLength
        ? source.line(index)
        : decodeLine(Buffer.from(source.slice(start, byteLength)), 0, byteLength - start);
    },
  };
}

/** The line that contains a byte of a file; the number of lines if the file is shorter. */
export function lineAt(source: Pick<SessionSource, "lineCount" | "lineStart">, offset: number): number {
  let [low, high] = [0, source.lineCount];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (source.lineStart(middle + 1) > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Adds the offsets of the lines that begin in a block of a file, which is at offset `at`. If a line ends with the block, the next
 * line begins with the next block: pass `starts` again for that, and whether the last line is open.
 */
function findLineStarts(
  bytes: Buffer,
  found: { readonly at: number; readonly starts: number[]; readonly isOpen?: boolean },
): void {
  let from = found.isOpen === true ? bytes.indexOf(NEWLINE) + 1 || bytes.length : 0;
  while (from < bytes.length) {
    found.starts.push(found.at + from);
    from = bytes.indexOf(NEWLINE, from) + 1 || bytes.length;
  }
}

/** Decodes the line `[start, end)` of some bytes, without its line end. */
function decodeLine(bytes: Buffer, start: number, end: number): string {
  let to = end;
  if (to > start && bytes[to - 1] === NEWLINE) to--;
  if (to > start && bytes[to - 1] === CARRIAGE_RETURN) to--;
  return bytes.toString("utf8", start, to);
}

// Stores the imported bytes unchanged, in pieces that are cut at the line where each turn begins (docs/FORMAT.md §6). Joining the
// pieces of one session in order restores the file exactly.

/** A part of the file that is stored under one path. Offsets in bytes, end exclusive. */
export interface SourcePiece {
  readonly path: string;
  readonly start: number;
  readonly end: number;
}

/** Sizes at which pieces are cut, bytes. */
export interface PieceLimits {
  /** A longer piece is cut at line ends: hosts warn about larger files. */
  readonly piece: number;
  /** A longer line becomes an attachment of its own: hosts refuse files near 100 MB. */
  readonly line: number;
}

/** The default sizes; tests use smaller ones. */
export const PIECE_LIMITS: PieceLimits = { piece: 25 * 1024 * 1024, line: 50 * 1024 * 1024 };

/** Cuts the lines `[first, end)` of one turn into pieces. `turn` is the position under which they are stored. */
export function cutPieces(
  source: ByteSource,
  stretch: { readonly session: string; readonly turn: number; readonly first: number; readonly end: number },
  limits: PieceLimits = PIECE_LIMITS,
): SourcePiece[] {
  const cuts: number[] = [source.lineStart(stretch.first)];
  const end = source.lineStart(stretch.end);
  for (let line = stretch.first; end - (cuts[0] ?? 0) > limits.piece && line < stretch.end; line++) {
    const [from, to] = [source.lineStart(line), source.lineStart(line + 1)];
    const open = cuts[cuts.length - 1] ?? 0;
    if (from > open && (to - open > limits.piece || to - from > limits.line)) cuts.push(from);
    if (to - from > limits.line && to < end) cuts.push(to);
  }
  return cuts.map((start, index) => ({
    path: sourcePath(stretch.session, stretch.turn, index),
    start,
    end: cuts[index + 1] ?? end,
  }));
}

/** The changes that store a piece: its bytes, or for an overlong line a reference and the attachment. */
export function pieceChanges(source: ByteSource, piece: SourcePiece, limits: PieceLimits = PIECE_LIMITS): FileChange[] {
  const bytes = source.slice(piece.start, piece.end);
  if (bytes.length <= limits.line) return [{ path: piece.path, bytes }];
  const name = `${sha256(bytes)}.jsonl`;
  return [
    { path: piece.path, bytes: referenceTo(name) },
    { path: attachmentPath(name), bytes },
  ];
}

/** The piece of one line that replaces an overlong line. */
export function referenceTo(attachment: string): Uint8Array {
  return new TextEncoder().encode(`{"$attachment":"${attachment}"}\n`);
}

/** The attachment that a piece refers to; null when it has the source's own bytes. */
export function parseReference(piece: Uint8Array): string | null {
  if (piece.byteLength > 200) return null;
  return /^\{"\$attachment":"([0-9a-f]{64}\.jsonl)"\}\n$/.exec(new TextDecoder().decode(piece))?.[1] ?? null;
}

// Session text in a file too large for memory: reads blocks, caches a few, and reads them again on demand. Each block has a
// checksum, so that all reads see the same bytes.

const BLOCK_BYTES = 512 * 1024;
/** Cached blocks: more than most turns have, whose lines and then bytes are read. */
const KEPT_BLOCKS = 6;

/** Bytes of a block, and the number of cached blocks; tests use smaller ones. */
interface BlockLimits {
  readonly block: number;
  readonly kept: number;
}

/**
 * Opens a file by its lines as it is now; lines added later are ignored. Throws as the file system does, and every read throws
 * `file_changed` once the original bytes have changed.
 */
export function createFileSource(
  path: string,
  limits: BlockLimits = { block: BLOCK_BYTES, kept: KEPT_BLOCKS },
): ByteSource {
  const { size, starts, checksums } = indexFile(path, limits.block);
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
    line(index) {
      const [from, end] = [start(index), start(index + 1)];
      const offset = from % limits.block;
      if (offset + end - from > limits.block) return decodeLine(slice(from, end), 0, end - from);
      return from === end ? "" : decodeLine(load((from - offset) / limits.block), offset, offset + end - from);
    },
  };
}

/** The memory of the oldest cached block, when the cache is full. */
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
}

function indexFile(path: string, blockBytes: number): FileIndex {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const starts: number[] = [];
    const checksums: number[] = [];
    const memory = Buffer.allocUnsafeSlow(blockBytes);
    let isOpen = false;
    for (let at = 0; at < size; at += blockBytes) {
      const block = memory.subarray(0, readFully(file, at, memory, Math.min(blockBytes, size - at)));
      if (block.length < Math.min(blockBytes, size - at)) throw fileChanged(path);
      findLineStarts(block, { at, starts, isOpen });
      isOpen = block[block.length - 1] !== NEWLINE;
      checksums.push(crc32(block));
    }
    return { size, starts, checksums };
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

/** Reads up to `count` bytes; fewer only at the end of the file. */
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
