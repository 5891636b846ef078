// The items that a model was sent or gave, as events: one each. What an event has no place for and Codex sends again stands
// in `metadata.item`.
import type { ContentPart, Event, EventMetadata } from "../../core/event/event.ts";
import { isRecord, type RawLine, recordOf, stringOf } from "../json-line.ts";
import { readArguments } from "../openai-chat/read-arguments.ts";
import { toItemContent } from "./content-parts.ts";
import { callFailed } from "./failed-call.ts";

/** Where an item stands, and who made it. */
export interface ItemPlace {
  readonly id: string;
  /** RFC 3339 UTC. */
  readonly timestamp: string;
  readonly provider: string;
  readonly model?: string;
  /** Shared by what one answer of the model gave. */
  readonly messageId?: string;
  /** Whose words a request is; absent = the user's. */
  readonly origin?: "harness" | "queued";
}

/** Items that the agent notes down and never sends. */
const NEVER_SENT: ReadonlySet<unknown> = new Set(["ghost_snapshot", "other"]);

/** Whether an item is sent to the model. */
export function isSentItem(item: RawLine): boolean {
  return !NEVER_SENT.has(item["type"]);
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
      return { type: "chat_request", id, timestamp, content: [opaque(item)], metadata: { origin: "harness" } };
    default:
      return { type: "chat_response", id, timestamp, message: [opaque(item)], metadata: madeBy(place) };
  }
}

/** What OpenAI gave, as it is. */
function opaque(value: RawLine): ContentPart {
  return { type: "opaque", provider: "openai", value };
}

function madeBy({ provider, model, messageId }: ItemPlace): EventMetadata {
  return {
    provider,
    ...(model !== undefined && { model }),
    ...(messageId !== undefined && { message_id: messageId }),
  };
}

function requestEvent(item: RawLine, { id, timestamp, origin }: ItemPlace): Event {
  const role = stringOf(item, "role");
  return {
    type: "chat_request",
    id,
    timestamp,
    ...((role === "developer" || role === "system") && { role }),
    content: toItemContent(item["content"]),
    ...(origin !== undefined && { metadata: { origin } }),
  };
}

function answerEvent(item: RawLine, place: ItemPlace): Event {
  const phase = stringOf(item, "phase");
  return {
    type: "chat_response",
    id: place.id,
    timestamp: place.timestamp,
    message: toItemContent(item["content"]),
    metadata: { ...madeBy(place), ...(phase !== undefined && { phase }) },
  };
}

/** A summary of one part, or none, is the text itself. */
function reasoningEvent(item: RawLine, place: ItemPlace): Event {
  const summary = listOf(item, "summary");
  const content = listOf(item, "content");
  const encrypted = stringOf(item, "encrypted_content");
  const own = {
    ...((summary.length > 1 || content.length > 0) && { summary }),
    ...(content.length > 0 && { content }),
  };
  return {
    type: "chat_response",
    id: place.id,
    timestamp: place.timestamp,
    reasoning: [...summary, ...content]
      .flatMap((part) => (isRecord(part) ? (stringOf(part, "text") ?? []) : []))
      .join("\n\n"),
    metadata: {
      ...madeBy(place),
      ...(encrypted !== undefined && { encrypted }),
      ...(Object.keys(own).length > 0 && { item: own }),
    },
  };
}

function callEvent(item: RawLine, place: ItemPlace): Event {
  const namespace = stringOf(item, "namespace");
  const isCustom = item["type"] === "custom_tool_call";
  const isShell = item["type"] === "local_shell_call";
  return {
    type: "tool_call_request",
    id: place.id,
    timestamp: place.timestamp,
    call_id: stringOf(item, "call_id") ?? stringOf(item, "id") ?? "",
    name: isShell ? "local_shell" : (stringOf(item, "name") ?? ""),
    arguments: isCustom
      ? { input: stringOf(item, "input") ?? "" }
      : isShell
        ? (recordOf(item, "action") ?? {})
        : readArguments(item["arguments"]),
    metadata: {
      ...madeBy(place),
      ...((isCustom || isShell) && { call_type: isCustom ? "custom" : "local_shell" }),
      ...(namespace !== undefined && { item: { namespace } }),
    },
  };
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
    content: toItemContent(content),
    is_error: succeeded === false || callFailed(content),
  };
}

function listOf(item: RawLine, key: string): readonly unknown[] {
  const value = item[key];
  return Array.isArray(value) ? value : [];
}
