// One line of a rollout file, before anything is believed about it. Lines of today are `{timestamp, type, payload}`; before
// September 2025 a header and the bare items of the model stood there, and what agents said to each other had lines of its own
// for a while. All come in the form of today.
import { parseJsonLine, type RawLine, recordOf, stringOf } from "../json-line.ts";

/** Items of the model that stood in old files without a frame. */
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

/** Parses one line: `type` and `payload` are there. A string is the reason why it is no line of a rollout; null is a blank line. */
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

/** What another agent said, as the item that Codex makes of it for its model (0.169). */
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

/** What opened an old file, and what told of the agent's state in it. */
function headerOf(line: RawLine): RawLine | undefined {
  const { id, timestamp, record_type: record } = line;
  if (typeof record === "string") return { ...line, type: record, payload: line };
  const isHeader = typeof id === "string" && typeof timestamp === "string";
  return isHeader ? { ...line, type: "session_meta", payload: line } : undefined;
}
