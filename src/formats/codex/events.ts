// Converts the items of a model's input and output to events, one each. What has no place in an event, but is sent again, goes into
// `metadata.item`.
import type { Event, EventMetadata } from "../../core/conversation/event.ts";
import { toOpenAiContent } from "../openai-chat/content.ts";
import { answerFacts, type CallItem, opaqueItem, readCallItem, readReasoningItem } from "../openai-responses/agent.ts";
import { isRecord, parseJsonLine, type RawLine, recordOf, stringOf } from "../session-source.ts";

/** Id, time and maker of an item. */
export interface ItemPlace {
  readonly id: string;
  /** RFC 3339 UTC. */
  readonly timestamp: string;
  readonly provider: string;
  readonly model?: string;
  /** Shared by the items of one answer. */
  readonly messageId?: string;
  /** Who speaks in a request; absent = the user. */
  readonly origin?: "harness" | "queued";
}

/** Converts an item that is sent. */
export function toItemEvent(item: RawLine, place: ItemPlace): Event {
  const { id, timestamp } = place;
  switch (item["type"]) {
    case "message":
      return stringOf(item, "role") === "assistant" ? answerEvent(item, place) : requestEvent(item, place);
    case "reasoning":
      return reasoningEvent(item, place);
    case "function_call":
    case "custom_tool_call":
    case "local_shell_call":
      return callEvent(item, place);
    case "function_call_output":
    case "custom_tool_call_output":
      return outputEvent(item, place);
    case "agent_message":
      return { type: "chat_request", id, timestamp, content: [opaqueItem(item)], metadata: { origin: "harness" } };
    default:
      return { type: "chat_response", id, timestamp, message: [opaqueItem(renamed(item))], metadata: madeBy(place) };
  }
}

/** Codex sends a compaction of either name under the first. */
function renamed(item: RawLine): RawLine {
  return item["type"] === "compaction_summary" ? { ...item, type: "compaction" } : item;
}

function madeBy({ provider, model, messageId }: ItemPlace): EventMetadata {
  return {
    provider,
    model,
    message_id: messageId,
  };
}

function requestEvent(item: RawLine, { id, timestamp, origin }: ItemPlace): Event {
  const role = stringOf(item, "role");
  return {
    type: "chat_request",
    id,
    timestamp,
    ...((role === "developer" || role === "system") && { role }),
    content: toOpenAiContent(item["content"]),
    metadata: origin === undefined ? undefined : { origin },
  };
}

function answerEvent(item: RawLine, place: ItemPlace): Event {
  return {
    type: "chat_response",
    id: place.id,
    timestamp: place.timestamp,
    message: toOpenAiContent(item["content"]),
    metadata: { ...madeBy(place), ...answerFacts(item) },
  };
}

/** A summary of at most one part is kept as the text alone. */
function reasoningEvent(item: RawLine, place: ItemPlace): Event {
  const { text, summary, content, facts } = readReasoningItem(item);
  const own = {
    ...((summary.length > 1 || content.length > 0) && { summary }),
    ...(content.length > 0 && { content }),
  };
  return {
    type: "chat_response",
    id: place.id,
    timestamp: place.timestamp,
    reasoning: text,
    metadata: {
      ...madeBy(place),
      ...facts,
      ...(Object.keys(own).length > 0 && { item: own }),
    },
  };
}

function callEvent(item: RawLine, place: ItemPlace): Event {
  const { facts, ...call } = item["type"] === "local_shell_call" ? shellCall(item) : readCallItem(item);
  return {
    type: "tool_call_request",
    id: place.id,
    timestamp: place.timestamp,
    call_id: stringOf(item, "call_id") ?? stringOf(item, "id") ?? "",
    ...call,
    metadata: { ...madeBy(place), ...facts, unanswered: MISSING_OUTPUT, item: itemOf(item, call.arguments) },
  };
}

/** What Codex sends as the output of a call that has none. */
const MISSING_OUTPUT = "aborted";

/** The tool's namespace, and arguments that would be written otherwise. */
function itemOf(item: RawLine, read: unknown): RawLine | undefined {
  const namespace = stringOf(item, "namespace");
  const text = item["type"] === "function_call" ? stringOf(item, "arguments") : undefined;
  const isOtherwise = text !== undefined && text !== JSON.stringify(read);
  if (namespace === undefined && !isOtherwise) return undefined;
  return { ...(namespace !== undefined && { namespace }), ...(isOtherwise && { arguments: text }) };
}

function shellCall(item: RawLine): CallItem {
  return { name: "local_shell", arguments: recordOf(item, "action") ?? {}, facts: { call_type: "local_shell" } };
}

function outputEvent(item: RawLine, place: ItemPlace): Event {
  const output = item["output"];
  // Some versions wrapped the output.
  const content = isRecord(output) && "content" in output ? output["content"] : output;
  const succeeded = isRecord(output) ? output["success"] : undefined;
  return {
    type: "tool_call_response",
    id: place.id,
    timestamp: place.timestamp,
    call_id: stringOf(item, "call_id") ?? "",
    content: toOpenAiContent(content),
    is_error: succeeded === false || callFailed(content),
  };
}

// Whether a command failed. Codex says so in the output's text, whose wording changed with its versions.

/** The line before the output, in the wordings of all versions. */
const EXIT_CODE = /^(?:Process exited with code|Exit code:) (-?\d+)$/m;
/** Length searched for the exit code, characters: it precedes the output. */
const LOOKED_AT = 500;

/** Whether the output of a call says that it failed. */
function callFailed(output: unknown): boolean {
  const text = typeof output === "string" ? output : firstText(output);
  const head = text.slice(0, LOOKED_AT);
  const said = EXIT_CODE.exec(head.split("\nOutput:\n", 1)[0] ?? "")?.[1];
  if (said !== undefined) return Number(said) !== 0;
  return head.startsWith('{"output":') && exitCodeOf(text) !== 0;
}

function firstText(output: unknown): string {
  const part = Array.isArray(output) ? output.find(isRecord) : undefined;
  return typeof part?.["text"] === "string" ? part["text"] : "";
}

/** From the first versions: `{"output": …, "metadata": {"exit_code": 1}}`; 0 if it is missing. */
function exitCodeOf(text: string): number {
  const parsed = parseJsonLine(text);
  const code = parsed === null || typeof parsed === "string" ? undefined : recordOf(parsed, "metadata")?.["exit_code"];
  return typeof code === "number" ? code : 0;
}
