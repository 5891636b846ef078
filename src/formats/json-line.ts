// One line of a session file of JSON lines, before anything is believed about it: an object, or the reason why it is none.
// Never throws; every reader asks for a type and gets `undefined` when the file holds something else.
import { isTooDeep, MAX_FOREIGN_DEPTH } from "../core/json.ts";

/** A parsed line; its values have not been checked. */
export type RawLine = Readonly<Record<string, unknown>>;

const BYTE_ORDER_MARK = /^\uFEFF/;

/** Parses one line. A string is the reason why it is no JSON object that can be read; null is a blank line. */
export function parseJsonLine(text: string): RawLine | string | null {
  if (text.trim() === "") return null;
  let value: unknown;
  try {
    value = JSON.parse(text.replace(BYTE_ORDER_MARK, ""));
  } catch {
    return describeBadLine(text);
  }
  if (!isRecord(value)) return "not a JSON object";
  return isTooDeep(text, value, MAX_FOREIGN_DEPTH) ? `nested deeper than ${MAX_FOREIGN_DEPTH} levels` : value;
}

/** The reason does not quote the parser: its words change with the version of Node. */
function describeBadLine(text: string): string {
  if (text.includes("\0")) return "NUL bytes";
  if (text.includes("\uFFFD")) return "not JSON, and not UTF-8 in places";
  return text.trimStart().startsWith("{") && !text.trimEnd().endsWith("}")
    ? "not JSON: cut off before its end"
    : "not JSON";
}

/** Whether a value is a plain object. */
export function isRecord(value: unknown): value is RawLine {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The string under a key; absent when it is none. */
export function stringOf(line: RawLine, key: string): string | undefined {
  const value = line[key];
  return typeof value === "string" ? value : undefined;
}

/** The object under a key; absent when it is none. */
export function recordOf(line: RawLine, key: string): RawLine | undefined {
  const value = line[key];
  return isRecord(value) ? value : undefined;
}

/** The strings of a list under a key; anything else in it is left out. */
export function stringsOf(line: RawLine, key: string): readonly string[] {
  const value = line[key];
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}
