// Whether a file is a session of Claude Code, told from its first lines so that asking costs nothing.

import { type RawLine, stringOf } from "../json-line.ts";
import type { SessionSource } from "../session-source.ts";
import { parseLine } from "./line.ts";

/** How many lines are looked at; the first ones may be side data or damaged. */
const LINES_LOOKED_AT = 50;

const NODE_TYPES: ReadonlySet<unknown> = new Set(["user", "assistant", "system", "attachment", "progress"]);
/** Side lines, each with a key that no other format has beside that type. */
const SIDE_TYPES: Readonly<Record<string, string>> = {
  "ai-title": "aiTitle",
  "custom-title": "customTitle",
  "file-history-snapshot": "snapshot",
  "last-prompt": "sessionId",
  "permission-mode": "permissionMode",
  "queue-operation": "operation",
  mode: "sessionId",
  summary: "leafUuid",
};

/** Whether the first lines look like a Claude Code session. */
export function isClaudeSession(source: SessionSource): boolean {
  for (let line = 0; line < Math.min(source.lineCount, LINES_LOOKED_AT); line++) {
    const parsed = parseLine(source.line(line));
    if (parsed !== null && typeof parsed !== "string" && isClaudeLine(parsed)) return true;
  }
  return false;
}

/** Whether a line can only come from Claude Code. */
export function isClaudeLine(line: RawLine): boolean {
  const type = stringOf(line, "type") ?? "";
  if (NODE_TYPES.has(type))
    return typeof line["uuid"] === "string" && ("parentUuid" in line || typeof line["sessionId"] === "string");
  return Object.hasOwn(SIDE_TYPES, type) && (SIDE_TYPES[type] ?? "") in line;
}
