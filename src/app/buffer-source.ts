// Session text over a buffer: line offsets are found once, lines are decoded when asked for.
import type { SessionSource } from "../formats/session-source.ts";

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;

/** A session file in memory; `bytes` are the file's own. */
export interface BufferSource extends SessionSource {
  readonly bytes: Buffer;
}

/** Creates the line view of a file's bytes. */
export function createBufferSource(bytes: Buffer): BufferSource {
  const starts = lineStarts(bytes);
  const lineCount = starts.length - 1;
  const start = (index: number): number => starts[Math.min(index, lineCount)] ?? bytes.length;
  return {
    bytes,
    lineCount,
    byteLength: bytes.length,
    lineStart: start,
    line(index) {
      let end = start(index + 1);
      const from = start(index);
      if (end > from && bytes[end - 1] === NEWLINE) end--;
      if (end > from && bytes[end - 1] === CARRIAGE_RETURN) end--;
      return bytes.toString("utf8", from, end);
    },
  };
}

/** Offsets of all lines' first bytes, and the file's length at the end. */
function lineStarts(bytes: Buffer): number[] {
  const starts: number[] = [];
  let at = 0;
  while (at < bytes.length) {
    starts.push(at);
    const next = bytes.indexOf(NEWLINE, at);
    if (next < 0) break;
    at = next + 1;
  }
  starts.push(bytes.length);
  return starts;
}
