// Text of strangers inside Markdown: whatever it holds, it stays inside its quote or fence and cannot forge a heading or
// swallow what follows; for terminals it also loses its control sequences.

/** Tags that would close the quote, or hide or restyle what follows it; closing tags, comments and `<?` always would. */
const STRUCTURAL_TAG =
  /<(?=[/!?]|(?:blockquote|details|summary|h[1-6]|hr|table|t[drh]|div|section|article|p|ul|ol|li|pre|script|style|textarea|title|iframe|object|embed|svg|math|template|select|button|form|xmp|plaintext|noscript)\b)/gi;
const CRLF_OR_CR = /\r\n?/g;
/** CSI and OSC sequences whole, so that nothing of them is left as text (ECMA-48). */
const ESCAPE_SEQUENCE = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?/g;
/** C0 without tab and line feed, DEL, C1, and the marks that reorder text. */
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

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
  const line = text
    .replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ")
    .trim()
    .replace(STRUCTURAL_TAG, "\\<");
  return line === "" ? "untitled" : line;
}

/** Renders a name as inline code: one line, at most 80 characters. */
export function renderName(name: string): string {
  const plain = name.replace(/[\s`\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
  return `\`${plain === "" ? "unnamed" : plain.slice(0, 80)}\``;
}

/** Takes control characters out of a rendered document, but for tab and line feed. */
export function stripControls(text: string): string {
  return text.replace(ESCAPE_SEQUENCE, "").replace(CONTROL, "");
}

/** A lone carriage return ends a line in Markdown too (CommonMark §2.1). */
function toLines(text: string): string {
  return text.includes("\r") ? text.replace(CRLF_OR_CR, "\n") : text;
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
