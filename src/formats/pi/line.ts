// One line of a pi session file: the header, or an entry. Nothing is believed about its values but that it has a type.
import { isRecord, parseJsonLine, type RawLine, recordOf, stringOf } from "../json-line.ts";

/** Parses one line. A string is the reason why it is no line of a session; null is a blank line. */
export function parseSessionLine(text: string): RawLine | string | null {
  const line = parseJsonLine(text);
  if (line === null || typeof line === "string") return line;
  return typeof line["type"] === "string" ? line : "no `type`";
}

/** Whether a line is the header, which the first line of a session must be. */
export function isHeader(line: RawLine): boolean {
  return line["type"] === "session" && typeof line["id"] === "string";
}

/** The message of an entry; empty where the entry has none. */
export function saidMessage(line: RawLine): RawLine {
  return recordOf(line, "message") ?? {};
}

/** Who speaks in an entry's message. */
export function roleOf(line: RawLine): string {
  return stringOf(saidMessage(line), "role") ?? "";
}

/** The blocks of a message's content: a text counts as one block, and what is no block is left out. */
export function blocksOf(content: unknown): readonly RawLine[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isRecord) : [];
}
