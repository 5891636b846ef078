// One line of a Claude Code session file, before anything is believed about it: an object with a type, or the reason why it
// is none.
import { isRecord, parseJsonLine, type RawLine, recordOf } from "../json-line.ts";

/** Parses one line. A string is the reason why it is no line of a session; null is a blank line. */
export function parseLine(text: string): RawLine | string | null {
  const line = parseJsonLine(text);
  if (line === null || typeof line === "string") return line;
  return typeof line["type"] === "string" ? line : "no `type`";
}

/** The blocks of a line's message: a string counts as one text block; absent when there is no message with content. */
export function messageBlocks(line: RawLine): readonly RawLine[] | undefined {
  const content = recordOf(line, "message")?.["content"];
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isRecord) : undefined;
}
