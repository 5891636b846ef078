// The head of a GGUF file, as far as jpg wants it: how many tokens the model was trained to see. Read without loading the
// model. Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
import { open } from "node:fs/promises";

/** What is known of a file. */
export interface GgufHeader {
  /** It begins as a GGUF file does. */
  readonly isGguf: boolean;
  /** Tokens; null when the head does not say so early enough. */
  readonly contextLength: number | null;
}

/** What is read, in bytes: the facts stand before the vocabulary, which is of many MB. */
const READ_BYTES = 256 * 1024;
/** Versions whose counts have 8 bytes. */
const VERSIONS: ReadonlySet<number> = new Set([2, 3]);
/** Sizes of values by type, in bytes; texts (8) and lists (9) say theirs. */
const SIZES: readonly number[] = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];
const UINT32 = 4;
const TEXT = 8;
const LIST = 9;
const UINT64 = 10;

/** Reads the head of a file. Throws what the file system throws. */
export async function readGgufHeader(path: string): Promise<GgufHeader> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, 0);
    return parseGgufHeader(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

/** Parses the first bytes of a file, which may end anywhere. */
export function parseGgufHeader(bytes: Buffer): GgufHeader {
  const isGguf = bytes.length >= 8 && bytes.toString("latin1", 0, 4) === "GGUF" && VERSIONS.has(bytes.readUInt32LE(4));
  return { isGguf, contextLength: isGguf ? findContextLength(bytes) : null };
}

function findContextLength(bytes: Buffer): number | null {
  const reader = { bytes, at: 16 };
  try {
    for (let left = readLong(reader); left > 0; left--) {
      const key = readText(reader);
      const type = readInt(reader);
      if (/^[\w-]+\.context_length$/.test(key) && (type === UINT32 || type === UINT64)) {
        return (type === UINT32 ? readInt(reader) : readLong(reader)) || null;
      }
      skip(reader, type);
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error; // past the end of what was read
  }
  return null;
}

interface Reader {
  readonly bytes: Buffer;
  at: number;
}

function skip(reader: Reader, type: number): void {
  if (type === TEXT) {
    const length = readLong(reader);
    reader.at += length;
    return;
  }
  if (type !== LIST) {
    reader.at += sizeOf(type);
    return;
  }
  const inner = readInt(reader);
  const count = readLong(reader);
  if (inner !== TEXT && inner !== LIST) reader.at += count * sizeOf(inner);
  else for (let left = count; left > 0; left--) skip(reader, inner);
}

function sizeOf(type: number): number {
  const size = SIZES[type];
  if (size === undefined) throw new RangeError(`no type ${type}`);
  return size;
}

function readText(reader: Reader): string {
  const length = readLong(reader);
  const text = reader.bytes.toString("utf8", reader.at, reader.at + length);
  reader.at += length;
  return text;
}

function readInt(reader: Reader): number {
  const value = reader.bytes.readUInt32LE(reader.at);
  reader.at += 4;
  return value;
}

function readLong(reader: Reader): number {
  const value = Number(reader.bytes.readBigUInt64LE(reader.at));
  reader.at += 8;
  return value;
}
