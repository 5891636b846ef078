// One line of a session of Copilot CLI, before anything is believed about it: `{type, data, id, timestamp, parentId}`.
import { parseJsonLine, type RawLine, recordOf, stringOf } from "../json-line.ts";

/** Parses one line: `type` and `data` are there. A string is the reason why it is no line of a session; null is a blank line. */
export function parseCopilotLine(text: string): RawLine | string | null {
  const line = parseJsonLine(text);
  if (line === null || typeof line === "string") return line;
  if (stringOf(line, "type") === undefined) return "no `type`";
  return recordOf(line, "data") === undefined ? "no object in `data`" : line;
}

/** What a parsed line tells. */
export function dataOf(line: RawLine): RawLine {
  return recordOf(line, "data") ?? {};
}

/** Whether a parsed line can only come from Copilot CLI: other formats have no such types in a frame of `data` and `parentId`. */
export function isCopilotLine(line: RawLine): boolean {
  return (
    "parentId" in line && /^(?:session|user|assistant|tool|system|hook|subagent)\./.test(stringOf(line, "type") ?? "")
  );
}

/** The id of the session that a line begins; absent where it begins none. */
export function sessionBegunBy(line: RawLine): string | undefined {
  const id = line["type"] === "session.start" ? stringOf(dataOf(line), "sessionId") : undefined;
  return id === "" ? undefined : id;
}
