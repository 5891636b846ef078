// Texts of a conversation made fit for an extract with their lines and their code: control characters go, every line but the first
// is set in below its mark, so that no line of a text can pass for a line of the extract. What is cut is cut between lines where
// that is near, with `…` in its place; code that a cut opens or leaves open is closed.
import { forMarkdown } from "../safe-text.ts";
import { cutEnd, cutStart } from "./short-text.ts";

/** Longest head and tail of a text that are looked at, characters: no extract shows more. */
const SEEN_CHARS = 8000;
/** Share of what a cut may leave unused to end with a line. */
const LINE_SHARE = 0.35;
const INDENT = "  ";
const FENCE = /^\s*```/gm;

/** Cleans a text; lines and code stay. The middle of a very long one is left out. */
export function cleanBlock(text: string): string {
  const isLong = text.length > 2 * SEEN_CHARS;
  const seen = isLong ? `${text.slice(0, SEEN_CHARS)}\n…\n${text.slice(-SEEN_CHARS)}` : text;
  return forMarkdown(seen.replace(/\r\n?/g, "\n").replaceAll("\t", "  "))
    .replace(/[\u2400-\u2421\ufffd\p{Surrogate}]/gu, " ")
    .replace(/[^\S\n]+$/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

/** Cuts the end of a clean text off that is longer than `limit` characters. */
export function cutBlockEnd(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = headOf(text, limit - 6);
  return head === "" ? cutEnd(text, limit) : `${head}\n…`;
}

/** Cuts the middle out of a clean text longer than `limit` characters, two thirds of what stays before it. */
export function cutBlock(text: string, limit: number): string {
  if (text.length <= limit) return text;
  if (limit < 90) return cutBlockEnd(text, limit);
  const head = headOf(text, Math.floor((limit * 2) / 3) - 10);
  const tail = tailOf(text, limit - head.length - 10);
  return `${head}\n…\n${tail}`;
}

/** Sets a clean text in that is cut, where need be, to about `limit` characters with what is set in. */
export function indentedTo(text: string, limit: number, cut: (text: string, limit: number) => string): string {
  const whole = indented(text);
  return whole.length <= limit ? whole : indented(cut(text, Math.floor((limit * text.length) / whole.length)));
}

/** Sets all lines of a text but the first in. */
export function indented(text: string): string {
  return text.replace(/\n(?=[^\n])/g, `\n${INDENT}`);
}

function headOf(text: string, limit: number): string {
  if (limit < 10) return "";
  const lineEnd = text.lastIndexOf("\n", limit);
  const head =
    lineEnd >= limit * (1 - LINE_SHARE) ? text.slice(0, lineEnd).trimEnd() : cutEnd(text, limit).replace(/ …$/, "");
  return isOpenCode(head) ? `${head}\n\`\`\`` : head;
}

function tailOf(text: string, limit: number): string {
  const from = text.length - limit;
  const lineStart = text.indexOf("\n", from) + 1;
  const isNear = lineStart > 0 && lineStart - from <= limit * LINE_SHARE;
  const tail = isNear ? text.slice(lineStart) : cutStart(text, limit);
  return isOpenCode(text.slice(0, text.length - tail.length)) ? `\`\`\`\n${tail}` : tail;
}

function isOpenCode(text: string): boolean {
  return (text.match(FENCE)?.length ?? 0) % 2 === 1;
}
