// Texts of a conversation made short enough for a line of an extract: blanks and control characters become one blank, and what
// is cut is cut between words, with `…` in its place. Linear in the text, however long a line is.
import { forLine } from "../safe-text.ts";

/** Longest head and tail of a text that are looked at, characters: no line of an extract shows more. */
const SEEN_CHARS = 8000;
/** Longest word that a cut goes back over. */
const WORD_CHARS = 40;
const FENCED = /```[^\n]*\n[\s\S]*?```/g;
/** Longest fenced code that stays in what is said, characters. */
const CODE_CHARS = 200;

/** Puts a text on one line. The middle of a very long one is left out. */
export function oneLine(text: string): string {
  const isLong = text.length > 2 * SEEN_CHARS;
  const seen = isLong ? `${text.slice(0, SEEN_CHARS)} … ${text.slice(-SEEN_CHARS)}` : text;
  return forLine(whole(seen));
}

/** Puts what was said on one line, without long code. */
export function spokenLine(text: string): string {
  return oneLine(text.replace(FENCED, (code) => (code.length > CODE_CHARS ? " … " : code)));
}

/** Cuts a line after at most `limit` characters; below 10 nothing is left. */
export function cutEnd(line: string, limit: number): string {
  if (line.length <= limit) return line;
  if (limit < 10) return "";
  return `${line.slice(0, lastBreak(line, limit - 2))} …`;
}

/** Gives the last `limit` characters of a line at most, from where a word begins. */
export function cutStart(line: string, limit: number): string {
  if (line.length <= limit) return line;
  const from = line.length - limit;
  const blank = line.indexOf(" ", from);
  return blank >= from && blank - from <= WORD_CHARS ? line.slice(blank + 1) : whole(line.slice(from));
}

/** Cuts the middle out of a line longer than `limit` characters, two thirds of what stays before it. */
export function cutMiddle(line: string, limit: number): string {
  if (line.length <= limit) return line;
  const head = Math.floor((limit * 2) / 3);
  if (limit - head < 30) return cutEnd(line, limit);
  return `${line.slice(0, lastBreak(line, head - 3))} … ${cutStart(line, limit - head)}`;
}

/** Position at or before `limit` where a word has ended. */
function lastBreak(line: string, limit: number): number {
  const blank = line.lastIndexOf(" ", limit);
  if (blank > 0 && blank >= limit - WORD_CHARS) return blank;
  const code = line.charCodeAt(limit - 1);
  return code >= 0xd800 && code <= 0xdbff ? limit - 1 : limit;
}

/** Takes halves of surrogate pairs away. */
function whole(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "");
}
