// One line of a rollout file, unvalidated. Lines are `{timestamp, type, payload}`; before September 2025 files had a header and the
// model's bare items, and for a while messages between agents had lines of their own. All are converted to the current form.
import { toUsableId } from "../imported-session.ts";
import {
  nonBlankStringOf,
  parseJsonLine,
  type RawLine,
  recordOf,
  type SessionDescent,
  type SessionSource,
  stringOf,
} from "../session-source.ts";

/** Items without a frame in old files. */
const BARE_ITEMS: ReadonlySet<string> = new Set([
  "message",
  "reasoning",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
  "local_shell_call",
  "web_search_call",
]);

/** Parses one line; the result has `type` and `payload`. A string says why it is no line of a rollout; null is a blank line. */
export function parseRolloutLine(text: string): RawLine | string | null {
  const line = parseJsonLine(text);
  if (line === null || typeof line === "string") return line;
  const type = stringOf(line, "type");
  const payload = recordOf(line, "payload");
  if (type === "inter_agent_communication" && payload !== undefined)
    return { ...line, type: "response_item", payload: agentMessage(payload) };
  if (type !== undefined && payload !== undefined) return line;
  if (type === undefined) return headerOf(line) ?? "no `type`";
  if ("payload" in line) return "no object in `payload`";
  return BARE_ITEMS.has(type) ? { type: "response_item", payload: line } : { ...line, payload: line };
}

/** The payload of a parsed line. */
export function payloadOf(line: RawLine): RawLine {
  return recordOf(line, "payload") ?? {};
}

/** What another agent said, as the item that Codex 0.169 sends to its model. */
function agentMessage(said: RawLine): RawLine {
  const { author, recipient, encrypted_content: encrypted, trigger_turn: isTask } = said;
  const text = (words: string): RawLine => ({ type: "input_text", text: words });
  const head = `Message Type: ${isTask === true ? "NEW_TASK" : "MESSAGE"}\nTask name: ${stringOf(said, "recipient") ?? ""}\nSender: ${stringOf(said, "author") ?? ""}\nPayload:\n`;
  const content =
    typeof encrypted === "string"
      ? [text(head), { type: "encrypted_content", encrypted_content: encrypted }]
      : [text(stringOf(said, "content") ?? "")];
  return { type: "agent_message", author, recipient, content };
}

/** Converts the header of an old file, and its records of the agent's state. */
function headerOf(line: RawLine): RawLine | undefined {
  const { id, timestamp, record_type: record } = line;
  if (typeof record === "string") return { ...line, type: record, payload: line };
  const isHeader = typeof id === "string" && typeof timestamp === "string";
  return isHeader ? { ...line, type: "session_meta", payload: line } : undefined;
}

/** Lines searched; the first ones may be damaged. */
const LINES_LOOKED_AT = 50;

/** Types of lines that no other format has in a frame of `timestamp` and `payload`. */
const FRAMED: ReadonlySet<unknown> = new Set([
  "session_meta",
  "response_item",
  "event_msg",
  "turn_context",
  "compacted",
  "world_state",
]);

/** Whether the first lines look like a rollout. */
export function isCodexSession(source: SessionSource): boolean {
  for (let at = 0; at < Math.min(source.lineCount, LINES_LOOKED_AT); at++) {
    const line = parseRolloutLine(source.line(at));
    if (line !== null && typeof line !== "string" && isCodexLine(line)) return true;
  }
  return false;
}

/** Whether a parsed line can only come from Codex. */
export function isCodexLine(line: RawLine): boolean {
  return FRAMED.has(line["type"]) && stringOf(line, "timestamp") !== undefined && isOwnPayload(line);
}

/** An old header is recognised by its keys; a line without a frame is its own payload. */
function isOwnPayload(line: RawLine): boolean {
  const payload = payloadOf(line);
  if (line["type"] !== "session_meta") return payload["type"] !== line["type"];
  return "instructions" in payload || "cwd" in payload || "originator" in payload;
}

/** Reads the first session id in a file; null when there is none. */
export function codexSessionId(source: SessionSource): string | null {
  for (let at = 0; at < source.lineCount; at++) {
    const line = parseRolloutLine(source.line(at));
    const id = line === null || typeof line === "string" ? undefined : sessionNamedBy(line);
    if (id !== undefined) return toUsableId(id);
  }
  return null;
}

/** The session that a line describes; absent for other lines. */
export function sessionNamedBy(line: RawLine): string | undefined {
  return line["type"] === "session_meta" ? stringOf(payloadOf(line), "id") : undefined;
}

/** Descriptions of other sessions to read after the file's own. */
const DESCRIPTIONS = 16;

/** Reads where a session comes from; null for one without a parent. Never throws. */
export function codexDescent(source: SessionSource): SessionDescent | null {
  const described = firstDescriptions(source);
  const [own, ...copied] = described;
  if (own === undefined) return null;
  const agentParent = parentOf(own);
  const parent = agentParent ?? nonBlankStringOf(own, "forked_from_id");
  if (parent === undefined) return null;
  const ids = [parent, ...copied.flatMap((payload) => nonBlankStringOf(payload, "id") ?? [])];
  return { kind: agentParent === undefined ? "fork" : "agent", sessions: [...new Set(ids.map(toUsableId))] };
}

/** The session whose agent started this one. */
function parentOf(description: RawLine): string | undefined {
  const subagent = recordOf(recordOf(description, "source") ?? {}, "subagent") ?? {};
  return (
    nonBlankStringOf(recordOf(subagent, "thread_spawn") ?? {}, "parent_thread_id") ??
    nonBlankStringOf(description, "parent_thread_id")
  );
}

/** The session descriptions at a file's start: its own, then those copied from its ancestors. */
function firstDescriptions(source: SessionSource): readonly RawLine[] {
  const found: RawLine[] = [];
  for (let at = 0; at < Math.min(source.lineCount, LINES_LOOKED_AT) && found.length < DESCRIPTIONS; at++) {
    const line = parseRolloutLine(source.line(at));
    if (line === null || typeof line === "string") continue;
    if (line["type"] === "session_meta") found.push(payloadOf(line));
    else if (found.length > 0) break;
  }
  return found;
}
