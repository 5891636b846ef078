// Turn files from bytes. Most are plain ASCII, which is decoded many times faster and parsed faster than a text with a single
// other character in it: a turn that has some is decoded line by line.
import { isAscii } from "node:buffer";
import { type Event, fieldsOf } from "../../core/conversation/event.ts";
import { parseTurnLines, splitLines, turnPath } from "../../core/conversation/turn-file.ts";
import type { ConversationStore } from "../../store/store.ts";
import { LONGEST_TEXT, textTooLong } from "./decoded-text.ts";

const LINE_END = 0x0a;
/** More than the first line of a turn has in general: a `turn_start` is a few hundred bytes. */
const FIRST_LINE_BYTES = 4096;
const BYTE_ORDER_MARK = Buffer.from("\ufeff");

/** Parses the bytes of the turn file at a position. Throws `malformed_line`. */
export function parseTurnBytes(bytes: Uint8Array, index: number): Event[] {
  return parseTurnLines(decodeLines(bytes), turnPath(index));
}

/** Reads the first event of the turn file with this object id; no event of an empty file. Throws `malformed_line`. */
export async function readFirstEvent(store: ConversationStore, oid: string, index: number): Promise<Event[]> {
  const start = await readStart(store, oid, FIRST_LINE_BYTES);
  const isWhole = start.length < FIRST_LINE_BYTES || start.includes(LINE_END);
  const [first] = decodeLines(isWhole ? start : await readStart(store, oid));
  return parseTurnLines(first === undefined ? [] : [first], turnPath(index));
}

/** What turn files say that they follow: the object id in their `turn_start`, null where there is none. */
export async function readPrevious(
  store: ConversationStore,
  oids: readonly string[],
): Promise<readonly (string | null)[]> {
  const previous: (string | null)[] = [];
  for await (const start of store.readBlobs(oids, FIRST_LINE_BYTES)) {
    const isWhole = start.length < FIRST_LINE_BYTES || start.includes(LINE_END);
    const [line = ""] = decodeLines(isWhole ? start : await readStart(store, oids[previous.length] ?? ""));
    previous.push(previousOf(line));
  }
  return previous;
}

/** A line that is no event is reported by whoever reads the turn. */
function previousOf(line: string): string | null {
  try {
    const { type, prev } = fieldsOf(JSON.parse(line));
    return type === "turn_start" && typeof prev === "string" ? prev : null;
  } catch {
    return null;
  }
}

async function readStart(store: ConversationStore, oid: string, atLeast?: number): Promise<Uint8Array> {
  for await (const bytes of store.readBlobs([oid], atLeast)) return bytes;
  return new Uint8Array();
}

/** The lines of a turn file, each with its line end. `longest` = bytes of a line at most. Throws `text_too_long`. */
export function decodeLines(
  { buffer, byteOffset, byteLength }: Uint8Array,
  longest: number = LONGEST_TEXT,
): Iterable<string> {
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  const isOneText = byteLength <= longest && isAscii(bytes);
  return isOneText ? splitLines(bytes.toString("latin1")) : decodeEachLine(bytes, longest);
}

function* decodeEachLine(bytes: Buffer, longest: number): Generator<string> {
  let start = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  while (start < bytes.length) {
    const end = bytes.indexOf(LINE_END, start) + 1 || bytes.length;
    const line = bytes.subarray(start, end);
    if (line.length > longest) throw textTooLong(line.length, longest);
    yield line.toString(isAscii(line) ? "latin1" : "utf8");
    start = end;
  }
}
