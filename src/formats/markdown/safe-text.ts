// Text of strangers inside Markdown: whatever it holds, it stays inside its quote or fence and cannot forge a heading or
// swallow what follows, nor steer the terminal that the document is read on.
import { forLine, forMarkdown } from "../../core/safe-text.ts";

/** Tags that would close the quote, or hide or restyle what follows it; closing tags, comments and `<?` always would. */
const STRUCTURAL_TAG =
  /<(?=[/!?]|(?:blockquote|details|summary|h[1-6]|hr|table|t[drh]|div|section|article|p|ul|ol|li|pre|script|style|textarea|title|iframe|object|embed|svg|math|template|select|button|form|xmp|plaintext|noscript)\b)/gi;
const CRLF_OR_CR = /\r\n?/g;

/** Renders prose as a block quote, one `> ` a line; ends with a newline. */
export function renderQuote(text: string): string {
  const lines = toLines(text).replace(STRUCTURAL_TAG, "\\<").replaceAll("\n", "\n> ");
  return `> ${lines}\n`;
}

/**
 * Renders text as a code block whose fence is longer than any in the text. With `maxLines` (> 0) a longer text shows its
 * first and last lines and how many are left out. Ends with a newline.
 */
export function renderFence(text: string, info: string, maxLines?: number): string {
  const shown = fold(toLines(text), maxLines);
  const fence = "`".repeat(Math.max(3, longestBacktickRun(shown) + 1));
  return `${fence}${info}\n${shown}${shown.endsWith("\n") ? "" : "\n"}${fence}\n`;
}

/** Renders a text as one line of prose, e.g. of a heading; "untitled" when nothing is left of it. */
export function renderLine(text: string): string {
  const line = forLine(text).replace(STRUCTURAL_TAG, "\\<");
  return line === "" ? "untitled" : line;
}

/** Renders a name as inline code: one line, at most 80 characters. */
export function renderName(name: string): string {
  const line = forLine(name.replaceAll("`", " "), 80);
  return `\`${line === "" ? "unnamed" : line}\``;
}

/** A lone carriage return ends a line in Markdown too (CommonMark §2.1). What is taken out goes before the text gets its form. */
function toLines(text: string): string {
  return forMarkdown(text.includes("\r") ? text.replace(CRLF_OR_CR, "\n") : text);
}

function fold(text: string, maxLines: number | undefined): string {
  if (maxLines === undefined) return text;
  const lines = (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
  if (lines.length <= maxLines) return text;
  const head = Math.ceil(maxLines / 2);
  const tail = maxLines - head;
  const missing = `… ${lines.length - maxLines} lines left out …`;
  return [...lines.slice(0, head), missing, ...lines.slice(lines.length - tail)].join("\n");
}

function longestBacktickRun(text: string): number {
  if (!text.includes("```")) return 0;
  let longest = 0;
  for (const [run] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length);
  return longest;
}
