// One git pack, read directly: its index of version 2 and its objects, whole or as deltas (gitformat-pack(5)).
import { closeSync, readSync } from "node:fs";
import { constants, inflateSync } from "node:zlib";
import { openOwnFile } from "../files.ts";

/** An object without its name. */
export interface RawObject {
  readonly type: string;
  readonly bytes: Buffer;
}

export interface PackFile {
  /**
   * The object, or null when it is not in this pack. With `atLeast`, its bytes may end after so many. Throws when the pack is
   * damaged or of an unknown form.
   */
  read(oid: string, atLeast?: number): RawObject | null;
  /** Its size in bytes, inflating only the start; null when it is not in this pack. Throws like `read`. */
  size(oid: string): number | null;
  /** Whether the pack has the object. */
  has(oid: string): boolean;
  close(): void;
}

const TYPES: Readonly<Record<number, string>> = { 1: "commit", 2: "tree", 3: "blob", 4: "tag" };
const OFFSET_DELTA = 6;
const NAME_DELTA = 7;
/** The largest object read here, in bytes; git reads larger ones without holding their deflated form as well. */
export const LARGEST_READ: number = 8 * 1024 * 1024;
/** Header of a pack entry: size, then the base's distance or name. */
const ENTRY_HEADER_BYTES = 64;
/** Deflated bytes that hold the two sizes at the start of a delta, after zlib's code tables. */
const DELTA_START_BYTES = 512;
const FANOUT_AT = 8;
const NAMES_AT = FANOUT_AT + 256 * 4;
/** A small index (at most SMALL_INDEX bytes) is read whole after so many reads. */
const READS_BEFORE_WHOLE = 32;
const SMALL_INDEX = 4 * 1024 * 1024;
/** A larger index is read whole once that many of its bytes were read in pieces, up to this size. */
const LARGEST_WHOLE = 64 * 1024 * 1024;
/** Limit on cached bases of deltas, in bytes. */
const CACHED_BYTES = 2 * LARGEST_READ;

/** A pack may be a link: git follows it too. */
const IN_PACKS = { followLink: true } as const;

/**
 * Opens a pack by the path of its index (`….idx`), for objects of up to `largest` bytes. Throws when it is gone, of another
 * version, or a pipe.
 */
export function openPack(indexPath: string, largest: number = LARGEST_READ): PackFile {
  const index = openIndex(indexPath);
  let file: number;
  try {
    file = openOwnFile(indexPath.replace(/\.idx$/, ".pack"), IN_PACKS);
  } catch (error) {
    index.close();
    throw error;
  }
  const pack = createFileWindow(file);
  const cached = new Map<number, RawObject>();
  let cachedBytes = 0;
  const addToCache = (offset: number, object: RawObject): RawObject => {
    cachedBytes += object.bytes.length;
    if (cachedBytes > CACHED_BYTES) {
      cached.clear();
      cachedBytes = object.bytes.length;
    }
    cached.set(offset, object);
    return object;
  };
  const readAt = (offset: number): RawObject => {
    const known = cached.get(offset);
    if (known !== undefined) return known;
    const { kind, size, base, dataAt } = readEntryHeader(pack, offset, index.find);
    if (size > largest) throw new Error(`an object of ${size} bytes is larger than ${largest}`);
    const data = inflateAt(pack, dataAt, size);
    if (base === null) return addToCache(offset, { type: typeOf(kind), bytes: data });
    const from = readAt(base);
    return addToCache(offset, { type: from.type, bytes: applyDelta(from.bytes, data) });
  };
  /** The start of a whole object much longer than what is wanted; null for others. */
  const readStartAt = (offset: number, atLeast: number): RawObject | null => {
    const { kind, size, base, dataAt } = readEntryHeader(pack, offset, index.find);
    if (base !== null || size < 4 * atLeast) return null;
    const bytes = inflateStart(pack, dataAt, atLeast);
    return bytes.length < atLeast ? null : { type: typeOf(kind), bytes };
  };
  return {
    read(oid, atLeast) {
      const offset = index.find(oid);
      if (offset === null) return null;
      return (atLeast === undefined ? null : readStartAt(offset, atLeast)) ?? readAt(offset);
    },
    size(oid) {
      const offset = index.find(oid);
      if (offset === null) return null;
      const { size, base, dataAt } = readEntryHeader(pack, offset, index.find);
      return base === null ? size : readResultSize(inflateStart(pack, dataAt, DELTA_START_BYTES));
    },
    has: (oid) => index.find(oid) !== null,
    close() {
      index.close();
      closeSync(file);
    },
  };
}

interface PackIndex {
  /** Where an object starts in the pack, in bytes; null when it is not there. */
  find(oid: string): number | null;
  close(): void;
}

function openIndex(path: string): PackIndex {
  const file = openOwnFile(path, IN_PACKS);
  const head = readBytes(file, 0, NAMES_AT);
  if (head.length < NAMES_AT || head.readUInt32BE(0) !== 0xff744f63 || head.readUInt32BE(4) !== 2) {
    closeSync(file);
    throw new Error(`${path} is not a pack index of version 2`);
  }
  const fanout = (byte: number): number => (byte < 0 ? 0 : head.readUInt32BE(FANOUT_AT + byte * 4));
  const count = fanout(255);
  const offsetsAt = NAMES_AT + count * 24;
  const size = offsetsAt + count * 4;
  let reads = 0;
  let bytesRead = 0;
  let whole: Buffer | null = null;
  const isWorthWhole = (): boolean =>
    size <= SMALL_INDEX ? reads >= READS_BEFORE_WHOLE : size <= LARGEST_WHOLE && bytesRead >= size;
  const readIndex = (at: number, length: number): Buffer => {
    reads++;
    bytesRead += length;
    if (whole === null && isWorthWhole()) whole = readBytes(file, 0, size);
    return whole !== null && at + length <= whole.length
      ? whole.subarray(at, at + length)
      : readBytes(file, at, length);
  };
  const readOffset = (position: number): number => {
    const offset = readIndex(offsetsAt + position * 4, 4).readUInt32BE(0);
    if (offset < 0x80000000) return offset;
    return Number(readIndex(offsetsAt + count * 4 + (offset - 0x80000000) * 8, 8).readBigUInt64BE(0));
  };
  return {
    find(oid) {
      const name = Buffer.from(oid, "hex");
      const [from, to] = [fanout((name[0] ?? 0) - 1), fanout(name[0] ?? 0)];
      const names = readIndex(NAMES_AT + from * 20, (to - from) * 20);
      for (let low = 0, high = to - from; low < high; ) {
        const middle = (low + high) >> 1;
        const order = name.compare(names, middle * 20, middle * 20 + 20);
        if (order === 0) return readOffset(from + middle);
        if (order < 0) high = middle;
        else low = middle + 1;
      }
      return null;
    },
    close: () => closeSync(file),
  };
}

interface EntryHeader {
  readonly kind: number;
  /** Bytes once inflated. */
  readonly size: number;
  /** Start of the object that a delta is based on; null for a whole object. */
  readonly base: number | null;
  readonly dataAt: number;
}

function readEntryHeader(pack: FileWindow, offset: number, find: PackIndex["find"]): EntryHeader {
  const bytes = pack.read(offset, ENTRY_HEADER_BYTES);
  let at = 0;
  let byte = bytes.readUInt8(at++);
  const kind = (byte >> 4) & 7;
  let size = byte & 0x0f;
  for (let scale = 16; byte >= 0x80; scale *= 128) {
    byte = bytes.readUInt8(at++);
    size += (byte & 0x7f) * scale;
  }
  if (kind === NAME_DELTA) {
    const base = find(bytes.toString("hex", at, at + 20));
    if (base === null) throw new Error(`a delta at ${offset} names a base that is not in its pack`);
    return { kind, size, base, dataAt: offset + at + 20 };
  }
  if (kind !== OFFSET_DELTA) return { kind, size, base: null, dataAt: offset + at };
  byte = bytes.readUInt8(at++);
  let distance = byte & 0x7f;
  while (byte >= 0x80) {
    byte = bytes.readUInt8(at++);
    distance = (distance + 1) * 128 + (byte & 0x7f);
  }
  return { kind, size, base: offset - distance, dataAt: offset + at };
}

function inflateAt(pack: FileWindow, at: number, size: number): Buffer {
  // Deflated data is at most slightly longer than the plain data; what follows it is ignored.
  const deflated = pack.read(at, size + (size >> 9) + 64);
  const bytes = inflateSync(deflated, { maxOutputLength: size + 1, chunkSize: Math.max(size + 1, 64) });
  if (bytes.length !== size) throw new Error(`an object of ${bytes.length} bytes where ${size} were announced`);
  return bytes;
}

/** Inflates `count` deflated bytes, which usually give at least `count` bytes. */
function inflateStart(pack: FileWindow, at: number, count: number): Buffer {
  return inflateSync(pack.read(at, count), { finishFlush: constants.Z_SYNC_FLUSH });
}

function typeOf(kind: number): string {
  const type = TYPES[kind];
  if (type === undefined) throw new Error(`a pack entry of the unknown kind ${kind}`);
  return type;
}

function readBytes(file: number, at: number, count: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(count);
  return bytes.subarray(0, readSync(file, bytes, 0, count, at));
}

// A file read in windows: data near the last read is in memory already. A system call costs more than the few hundred bytes of
// most objects in a pack.

/** Bytes read at once near the last read. */
const WINDOW_BYTES = 256 * 1024;
/** Bytes read at once anywhere else. */
const PAGE_BYTES = 4096;

/** Reads an open file. */
interface FileWindow {
  /** The `count` bytes at `at`, fewer at the end of the file; valid until the next call on any window. */
  read(at: number, count: number): Buffer;
}

/** Shared by all files for reads larger than a window: reusing memory is much faster than allocating it. */
let scratch = Buffer.alloc(0);

/** Creates a window on an open file, which the caller closes. */
export function createFileWindow(file: number): FileWindow {
  let memory = Buffer.alloc(0);
  let start = 0;
  let length = 0;
  const load = (at: number, count: number): void => {
    const isForward = length > 0 && at >= start && at <= start + length + WINDOW_BYTES;
    // A tree precedes its commit, and blobs their tree: reads go back a little and then forward again.
    const isBackward = length > 0 && at < start && at > start - WINDOW_BYTES / 2;
    const wanted = isForward || isBackward ? WINDOW_BYTES : Math.max(count, PAGE_BYTES);
    if (memory.length < wanted) memory = Buffer.allocUnsafeSlow(wanted);
    start = isBackward ? Math.max(0, Math.min(at, at + count - WINDOW_BYTES / 2)) : at;
    length = readSync(file, memory, 0, wanted, start);
  };
  return {
    read(at, count) {
      if (count > WINDOW_BYTES) {
        if (scratch.length < count) scratch = Buffer.allocUnsafeSlow(count);
        return scratch.subarray(0, readSync(file, scratch, 0, count, at));
      }
      if (at < start || at + count > start + length) load(at, count);
      return memory.subarray(at - start, Math.min(at - start + count, length));
    },
  };
}

/** The position of a reader in the delta. */
interface Cursor {
  readonly delta: Buffer;
  at: number;
}

/** Below this a loop copies faster than a call. Bytes. */
const SHORT = 64;

/** Applies a delta to its base. Throws when it does not fit the base or is damaged. */
function applyDelta(base: Buffer, delta: Buffer): Buffer {
  const cursor: Cursor = { delta, at: 0 };
  check(readSize(cursor) === base.length);
  const result = Buffer.allocUnsafeSlow(readSize(cursor));
  let filled = 0;
  while (cursor.at < delta.length) {
    const command = readByte(cursor);
    if (command >= 0x80) {
      // Copies from the base; the command's bits say which bytes of offset and length follow, others are zero.
      const from = readNumber(command & 0x0f, cursor);
      const count = readNumber((command >> 4) & 0x07, cursor) || 0x10000;
      filled = copyBytes(base, from, count, result, filled);
    } else {
      // Copies from the delta; the command is the count, 0 is reserved.
      check(command > 0);
      filled = copyBytes(delta, cursor.at, command, result, filled);
      cursor.at += command;
    }
  }
  check(filled === result.length);
  return result;
}

/** Reads the size of the object that a delta makes, in bytes, from the delta's start. Throws when that is cut. */
function readResultSize(delta: Buffer): number {
  const cursor: Cursor = { delta, at: 0 };
  readSize(cursor);
  return readSize(cursor);
}

/** Copies `count` bytes and returns the position after them. */
function copyBytes(source: Buffer, from: number, count: number, target: Buffer, to: number): number {
  check(from + count <= source.length && to + count <= target.length);
  if (count < SHORT) for (let at = 0; at < count; at++) target[to + at] = source[from + at] ?? 0;
  else source.copy(target, to, from, from + count);
  return to + count;
}

/** A number, lowest byte first, with only the bytes whose bit is set. */
function readNumber(bits: number, cursor: Cursor): number {
  let value = 0;
  for (let scale = 1, rest = bits; rest !== 0; rest >>= 1, scale *= 256) {
    if (rest & 1) value += readByte(cursor) * scale;
  }
  return value;
}

/** A number in groups of 7 bits, lowest first. */
function readSize(cursor: Cursor): number {
  let value = 0;
  for (let scale = 1; ; scale *= 128) {
    const byte = readByte(cursor);
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
  }
}

function readByte(cursor: Cursor): number {
  check(cursor.at < cursor.delta.length);
  return cursor.delta[cursor.at++] ?? 0;
}

function check(isSound: boolean): void {
  if (!isSound) throw new Error("a delta that does not fit its base");
}
