// One line of a Copilot CLI session, unvalidated: `{type, data, id, timestamp, parentId}`, with `agentId` if a sub-agent wrote it.
import { parseJsonLine, type RawLine, recordOf, type SessionSource, stringOf } from "../session-source.ts";

/** Parses one line; the result has `type` and `data`. A string says why it is no line of a session; null is a blank line. */
export function parseCopilotLine(text: string): RawLine | string | null {
  const line = parseJsonLine(text);
  if (line === null || typeof line === "string") return line;
  if (stringOf(line, "type") === undefined) return "no `type`";
  return recordOf(line, "data") === undefined ? "no object in `data`" : line;
}

export function dataOf(line: RawLine): RawLine {
  return recordOf(line, "data") ?? {};
}

/** Whether a parsed line can only come from Copilot CLI: other formats have no such types in a frame of `data` and `parentId`. */
export function isCopilotLine(line: RawLine): boolean {
  return (
    "parentId" in line && /^(?:session|user|assistant|tool|system|hook|subagent)\./.test(stringOf(line, "type") ?? "")
  );
}

/** The session that a line starts; absent for other lines. */
export function sessionStartedBy(line: RawLine): string | undefined {
  const id = line["type"] === "session.start" ? stringOf(dataOf(line), "sessionId") : undefined;
  return id === "" ? undefined : id;
}

/** The sub-agent that wrote a line, in older versions named by the call that started it; "" = the session's own agent. */
export function writerOf(line: RawLine): string {
  return stringOf(line, "agentId") || stringOf(dataOf(line), "parentToolCallId") || "";
}

/**
 * The sub-agent that a source is about, which is then the session's first line and lines of that sub-agent (`SessionPart`); "" = it is a
 * session.
 */
export function partOf(source: SessionSource): string {
  let isStarted = false;
  for (let at = 0; at < source.lineCount; at++) {
    const line = parseCopilotLine(source.line(at));
    if (line === null || typeof line === "string") continue;
    if (isStarted) return writerOf(line);
    if (sessionStartedBy(line) === undefined) return "";
    isStarted = true;
  }
  return "";
}

// Kinds of lines. Many of Copilot CLI's lines repeat a message, report a call's progress or record a request to its model: they make no
// event, and stay in the sources of the conversation.

export type CopilotKind =
  /** Words of the user. */
  | "prompt"
  /** Words of the agent in the user's name. */
  | "harness"
  /** A command that the user ran in the agent's prompt, with its output. */
  | "shell"
  /** What the model said. */
  | "answer"
  /** The result of a call. */
  | "output"
  /** What no model sees. */
  | "note"
  /** Its summary is sent from here on. */
  | "compaction"
  /** What comes before it is no longer sent. */
  | "clearing"
  /** What other lines say as well. */
  | "silent";

const KINDS: ReadonlyMap<unknown, CopilotKind> = new Map<unknown, CopilotKind>([
  ["user.message", "prompt"],
  ["system.notification", "harness"],
  ["assistant.message", "answer"],
  ["tool.execution_complete", "output"],
  ["session.compaction_complete", "compaction"],
  ["session.context_cleared", "clearing"],
  ["assistant.turn_start", "silent"],
  ["assistant.turn_end", "silent"],
  ["assistant.reasoning", "silent"],
  ["tool.execution_start", "silent"],
  ["tool.execution_partial_result", "silent"],
  ["tool.execution_progress", "silent"],
  ["tool.user_requested", "silent"],
  ["hook.start", "silent"],
  ["hook.end", "silent"],
  ["permission.requested", "silent"],
  ["session.usage_record", "silent"],
  ["session.binary_asset", "silent"],
  ["jpg-origin", "silent"],
]);

/** What Copilot CLI records of the request for a summary, whole messages among it. */
const REQUEST_TYPE = /^model\./;

/** Classifies a parsed line by itself. */
export function kindOfCopilotLine(line: RawLine): CopilotKind {
  const type = stringOf(line, "type") ?? "";
  const kind = KINDS.get(type) ?? (REQUEST_TYPE.test(type) ? "silent" : "note");
  const data = dataOf(line);
  if (kind === "prompt") return isTyped(data) ? kind : "harness";
  if (kind === "output") return data["isUserRequested"] === true ? "shell" : kind;
  return kind === "compaction" && !isApplied(data) ? "note" : kind;
}

/** Whether a person wrote the message, or another agent to a sub-agent; not Copilot CLI, by a skill or to make its agent continue. */
function isTyped(data: RawLine): boolean {
  return isListed(data) && data["isAutopilotContinuation"] !== true;
}

/** Whether Copilot CLI repeats a message's words in front of a summary. */
export function isListed(data: RawLine): boolean {
  const source = data["source"];
  return typeof source !== "string" || source === "user" || source.startsWith("agent-");
}

/** A compaction that failed, or has no summary, changes nothing. */
function isApplied(data: RawLine): boolean {
  return data["success"] === true && (stringOf(data, "summaryContent") ?? "") !== "";
}
