// Session text over a buffer: line offsets are found once, lines are decoded when asked for.
import type { SessionSource } from "../../formats/session-source.ts";
import { contentHash } from "../workspace/object-id.ts";

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;

/** A session file whose bytes can be asked for. */
export interface ByteSource extends SessionSource {
  /** The bytes `[start, end)`; not to be changed. */
  slice(start: number, end: number): Uint8Array;
  /** SHA-1 of the first `end` bytes, 40 hex digits. */
  sha1(end: number): string;
}

/** A session file in memory; `bytes` are the file's own. */
export interface BufferSource extends ByteSource {
  readonly bytes: Buffer;
}

/** Creates the line view of a file's bytes. */
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
    sha1: (end) => contentHash().update(bytes.subarray(0, end)).digest("hex"),
    line: (index) => decodeLine(bytes, start(index), start(index + 1)),
  };
}

/** Gives the first bytes of a file as a file of their own. */
export function beginningOf(source: ByteSource, byteLength: number): ByteSource {
  const lineCount = lineAt(source, byteLength - 1) + 1;
  return {
    lineCount,
    byteLength,
    lineStart: (index) => Math.min(source.lineStart(index), byteLength),
    slice: (start, end) => source.slice(start, Math.min(end, byteLength)),
    text: () => Buffer.from(source.slice(0, byteLength)).toString("utf8"),
    sha1: (end) => source.sha1(Math.min(end, byteLength)),
    line(index) {
      const [start, end] = [source.lineStart(index), source.lineStart(index + 1)];
      return end <= byteLength
        ? source.line(index)
        : decodeLine(Buffer.from(source.slice(start, byteLength)), 0, byteLength - start);
    },
  };
}

/** The line that holds a byte of a file; the number of lines where the file ends before it. */
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
 * Adds the offsets of the lines that begin in a stretch of a file, which stands at `at`. A line that ends with the stretch
 * is taken for the last one: `starts` has to be given again for the next stretch, with whether the last line is open.
 */
export function findLineStarts(
  bytes: Buffer,
  found: { readonly at: number; readonly starts: number[]; readonly isOpen?: boolean },
): void {
  let from = found.isOpen === true ? bytes.indexOf(NEWLINE) + 1 || bytes.length : 0;
  while (from < bytes.length) {
    found.starts.push(found.at + from);
    from = bytes.indexOf(NEWLINE, from) + 1 || bytes.length;
  }
}

/** Decodes the line `[start, end)` of some bytes without its line end. */
export function decodeLine(bytes: Buffer, start: number, end: number): string {
  let to = end;
  if (to > start && bytes[to - 1] === NEWLINE) to--;
  if (to > start && bytes[to - 1] === CARRIAGE_RETURN) to--;
  return bytes.toString("utf8", start, to);
}
