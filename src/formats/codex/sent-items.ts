// Which items of a rollout Codex sends again. It reads each by a fixed shape, and skips a line whose item has another one, as it skips
// items of types that it does not know. Learned from what 0.169 and 0.171 send; both agree.
import { isRecord, type RawLine } from "../session-source.ts";

/** Whether an item is sent to the model. */
export function isSentItem(item: RawLine): boolean {
  const { type, role } = item;
  // Nor is a prompt: Codex sends its own.
  if (type === "message" && role === "system") return false;
  return hasKnownShape(item);
}

/** Whether an item of a compaction's list is sent; prompts are, there. */
export function isListedItem(item: RawLine): boolean {
  return hasKnownShape(item);
}

/** Whether Codex reads a compaction: it skips one without a message, or whose list has an item of a known type in another shape. */
export function isReadCompaction({ message, replacement_history: list }: RawLine): boolean {
  if (typeof message !== "string") return false;
  if (list === undefined || list === null) return true;
  return Array.isArray(list) && list.every((item) => isRecord(item) && (isTypeUnknown(item) || hasKnownShape(item)));
}

function hasKnownShape(item: RawLine): boolean {
  return shapeOf(item)?.(item) === true;
}

function isTypeUnknown(item: RawLine): boolean {
  return typeof item["type"] === "string" && shapeOf(item) === undefined;
}

function shapeOf({ type }: RawLine): ((item: RawLine) => boolean) | undefined {
  return typeof type === "string" && Object.hasOwn(SHAPES, type) ? SHAPES[type] : undefined;
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isTextOrNone: Check = (value) => value === undefined || value === null || typeof value === "string";
const isAny: Check = (value) => value !== undefined;

const MESSAGE_PARTS: Readonly<Record<string, string>> = {
  input_text: "text",
  output_text: "text",
  input_image: "image_url",
};
const OUTPUT_PARTS: Readonly<Record<string, string>> = {
  input_text: "text",
  input_image: "image_url",
  encrypted_content: "encrypted_content",
};
const AGENT_PARTS: Readonly<Record<string, string>> = {
  input_text: "text",
  encrypted_content: "encrypted_content",
};
const SUMMARY_PARTS: Readonly<Record<string, string>> = { summary_text: "text" };
const PHASES: ReadonlySet<unknown> = new Set([undefined, null, "commentary", "final_answer"]);
const SHELL_STATES: ReadonlySet<unknown> = new Set(["completed", "in_progress", "incomplete"]);

/** Whether a part has a known type, and a text under the key of that type. */
function isPartOf(part: unknown, keys: Readonly<Record<string, string>>): boolean {
  const type: unknown = isRecord(part) ? part["type"] : undefined;
  const key = typeof type === "string" && Object.hasOwn(keys, type) ? keys[type] : undefined;
  if (key === undefined || !isRecord(part)) return false;
  return typeof part[key] === "string" || (type === "input_image" && typeof part["file_id"] === "string");
}

/** Whether Codex can read a part of a message. */
export function isReadPart(part: unknown): boolean {
  return isPartOf(part, MESSAGE_PARTS);
}

const areParts =
  (keys: Readonly<Record<string, string>>): Check =>
  (value) =>
    Array.isArray(value) && value.every((part) => isPartOf(part, keys));
// Some versions wrapped the output.
const isOutput: Check = (value) => isText(value) || isRecord(value) || areParts(OUTPUT_PARTS)(value);

/** Whether all fields are as they must be. */
const fields =
  (checks: Readonly<Record<string, Check>>) =>
  (item: RawLine): boolean =>
    Object.entries(checks).every(([key, check]) => check(item[key]));

const SHAPES: Readonly<Record<string, (item: RawLine) => boolean>> = {
  message: fields({ role: isText, content: areParts(MESSAGE_PARTS), phase: (value) => PHASES.has(value) }),
  reasoning: fields({ summary: areParts(SUMMARY_PARTS), encrypted_content: isTextOrNone }),
  function_call: fields({ name: isText, arguments: isText, call_id: isText }),
  function_call_output: fields({ call_id: isText, output: isOutput }),
  custom_tool_call: fields({ name: isText, input: isText, call_id: isText }),
  custom_tool_call_output: fields({ call_id: isText, output: isOutput }),
  local_shell_call: ({ status, action }) =>
    SHELL_STATES.has(status) && isRecord(action) && action["type"] === "exec" && Array.isArray(action["command"]),
  tool_search_call: fields({ execution: isText, arguments: isAny }),
  tool_search_output: fields({ status: isText, execution: isText, tools: Array.isArray }),
  web_search_call: (item) => isTextOrNone(item["status"]),
  image_generation_call: fields({ status: isText, result: isText }),
  agent_message: fields({ author: isText, recipient: isText, content: areParts(AGENT_PARTS) }),
  compaction: fields({ encrypted_content: isText }),
  compaction_summary: fields({ encrypted_content: isText }),
  context_compaction: fields({ encrypted_content: isTextOrNone }),
};
