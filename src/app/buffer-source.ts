// Session text over a buffer: line offsets are found once, lines are decoded when asked for.
import type { SessionSource } from "../formats/session-source.ts";

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;

/** A session file whose bytes can be asked for. */
export interface ByteSource extends SessionSource {
  /** The bytes `[start, end)`; not to be changed. */
  slice(start: number, end: number): Uint8Array;
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
    line: (index) => decodeLine(bytes, start(index), start(index + 1)),
  };
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
