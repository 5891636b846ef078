// Makes text of a conversation fit for a commit message: no control characters, no lines that a reader or git could take
// for jpg's own.

/** Control characters, line separators and the marks that turn the direction of text around. */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
const LINE_ENDS = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;
const LONE_SURROGATES = /\p{Cs}/gu;
/** Spaces before each line of foreign text. */
const INDENT = "    ";

/** Puts a text on one line: control characters and runs of white space become one space. `limit` = longest result, code points. */
export function oneLine(text: string, limit: number = Number.POSITIVE_INFINITY): string {
  // Only the start of a long text can be in the result; runs of white space that long are not text.
  const start = limit === Number.POSITIVE_INFINITY ? text : text.trimStart().slice(0, limit * 100);
  const line = start.replace(LONE_SURROGATES, "\ufffd").replace(CONTROLS, " ").replace(/\s+/g, " ").trim();
  return limit === Number.POSITIVE_INFINITY ? line : [...line].slice(0, limit).join("").trimEnd();
}

/** Indents every line of a text that is not empty, so that none can begin like a trailer or a heading. */
export function indented(text: string): string {
  const lines = text
    .replace(LONE_SURROGATES, "\ufffd")
    .split(LINE_ENDS)
    .map((line) => line.replaceAll("\t", "  ").replace(CONTROLS, "").trimEnd());
  return lines
    .map((line) => (line === "" ? "" : INDENT + line))
    .join("\n")
    .replace(/^\n+|\n+$/g, "");
}
