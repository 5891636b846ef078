// Text of a conversation quoted in a bounded number of bytes, fit for a fence. What is left out is said.
import { type FencedLine, hostLines } from "../../core/safe-text.ts";

/** How much is quoted: bytes of UTF-8 with marks and line ends, lines, and characters (code points) of a line. */
export interface QuoteLimits {
  readonly bytes: number;
  readonly lines: number;
  readonly width: number;
}

/** Bytes that the line takes which says what is left out. */
const NOTE_BYTES = 80;
/** Share of the room that the beginning of a text has; the rest is its end's, where outputs say what failed. */
const HEAD_SHARE = 0.7;

/** Quotes a text: whole where there is room, else its beginning and its end, and between them how many lines are missing. */
export function quote(text: string, mark: FencedLine["mark"], limits: QuoteLimits): readonly FencedLine[] {
  const plain = text.trimEnd();
  // Only the ends of a long text can be in the quote.
  const reach = limits.bytes * 2;
  const isLong = plain.length > 2 * reach;
  const start = hostLines(isLong ? plain.slice(0, reach) : plain);
  const whole = isLong ? [] : take(start, mark, limits);
  if (whole.length === start.length && whole.every(({ isCut }) => !isCut)) return whole.map(({ line }) => line);
  const total = isLong ? countLines(plain) : start.length;
  const room = limits.bytes - NOTE_BYTES;
  const most = Math.ceil(limits.lines * HEAD_SHARE);
  const head = take(start, mark, { ...limits, bytes: room * HEAD_SHARE, lines: most });
  const rest = Math.max(0, Math.min(limits.lines - most, total - head.length));
  const end = rest === 0 ? [] : (isLong ? hostLines(plain.slice(-reach)) : start).slice(-rest).reverse();
  const tail = take(end, mark, { ...limits, bytes: room * (1 - HEAD_SHARE), lines: rest }).reverse();
  const note = describeMissing(Math.max(0, total - head.length - tail.length), [...head, ...tail]);
  return [...head.map(({ line }) => line), note, ...tail.map(({ line }) => line)];
}

function describeMissing(lines: number, shown: readonly TakenLine[]): FencedLine {
  const words = [
    ...(lines === 0 ? [] : [`${lines} ${lines === 1 ? "line" : "lines"} left out`]),
    ...(shown.some(({ isCut }) => isCut) ? ["long lines are cut"] : []),
  ];
  return { mark: "  ", text: `(… ${words.join("; ")})` };
}

/** Quotes a text from its beginning on as far as the bytes reach; `where` = what to type for all of it. */
export function quoteStart(text: string, bytes: number, where: string): readonly FencedLine[] {
  const limits = { bytes, lines: Number.POSITIVE_INFINITY, width: Number.POSITIVE_INFINITY };
  const plain = text.trimEnd();
  // No character takes less than a byte: what comes later has no room.
  const lines = hostLines(plain.slice(0, Math.max(0, bytes) + 1));
  const whole = take(lines, "    ", limits);
  if (whole.length === lines.length && whole.every(({ isCut }) => !isCut)) return whole.map(({ line }) => line);
  const start = take(lines, "    ", { ...limits, bytes: bytes - NOTE_BYTES - where.length });
  return [...start.map(({ line }) => line), { mark: "  ", text: `(… cut here; ${where} has all of it)` }];
}

interface TakenLine {
  readonly line: FencedLine;
  readonly isCut: boolean;
}

/** Takes lines while there is room; the last one that does not fit whole is cut. */
function take(texts: readonly string[], mark: FencedLine["mark"], { bytes, lines, width }: QuoteLimits): TakenLine[] {
  const taken: TakenLine[] = [];
  let room = bytes;
  for (const text of texts) {
    if (taken.length >= lines) break;
    const fitting = cutLine(text, { bytes: room - mark.length - 1, width });
    if (fitting === null) break;
    taken.push({ line: { mark, text: fitting }, isCut: fitting !== text });
    room -= mark.length + 1 + Buffer.byteLength(fitting);
    if (fitting !== text && [...fitting].length < width) break;
  }
  return taken;
}

/** Cuts a line, never inside a character; null where nothing of it has room. */
export function cutLine(
  text: string,
  { bytes, width }: { readonly bytes: number; readonly width: number },
): string | null {
  if (bytes < 0) return null;
  if (text.length <= width && Buffer.byteLength(text) <= bytes) return text;
  let room = bytes - Buffer.byteLength("…");
  let kept = "";
  let characters = 1;
  for (const character of text) {
    room -= Buffer.byteLength(character);
    characters += 1;
    if (room < 0 || characters > width) break;
    kept += character;
  }
  return kept === "" ? null : `${kept}…`;
}

function countLines(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
