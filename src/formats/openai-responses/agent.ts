// Reads requests of OpenAI's Responses API: `{instructions, input, tools}`, or the items alone.
import { readToolDefinition } from "../../core/conversation/defined-tools.ts";
import { type ContentPart, type EventMetadata, type Fields, fieldsOf } from "../../core/conversation/event.ts";
import type { AgentFormat } from "../agent-format.ts";
import { readArguments, toOpenAiContent } from "../openai-chat/content.ts";
import { type BodyMessage, createBodyFormat, type UnnamedEvent } from "../request-body/read.ts";
import { isRecord, type RawLine, stringOf } from "../session-source.ts";

/** Requests of OpenAI's Responses API. */
export const RESPONSES_REQUESTS: AgentFormat = createBodyFormat({
  name: "openai-responses",
  title: "OpenAI Responses",
  shape: "an object with `input`, and `instructions` next to it",
  read: ({ instructions, model, tools }, list) => {
    const metadata = { provider: "openai", ...(typeof model === "string" && { model }) };
    return {
      prompt: typeof instructions === "string" ? instructions : null,
      messages: list.map((item) => readItem(fieldsOf(item), metadata)),
      tools: Array.isArray(tools) ? tools.flatMap((tool) => readToolDefinition(tool) ?? []) : [],
    };
  },
});

// Items of the Responses API as events. What only OpenAI understands is carried verbatim.

/** Reads an item. `metadata` is for model output. */
function readItem(item: Fields, metadata: EventMetadata): BodyMessage {
  const { type = "message", content } = item;
  switch (type) {
    case "message":
      return readMessage(item, metadata);
    case "reasoning":
      return answer(reasoningOf(item, metadata));
    case "function_call":
    case "custom_tool_call":
      return answer(callOf(item, metadata));
    case "function_call_output":
    case "custom_tool_call_output": {
      const call_id = stringOf(item, "call_id") ?? "";
      const output = toOpenAiContent(item["output"]);
      return answer({ type: "tool_call_response", call_id, content: output, is_error: false });
    }
    default:
      return content === undefined && Object.keys(item).length <= 1
        ? { events: [], isFromUser: false }
        : answer({
            type: "chat_response",
            message: [opaqueItem(item)],
            metadata,
          });
  }
}

function readMessage(item: Fields, metadata: EventMetadata): BodyMessage {
  const { role, content } = item;
  const isEmpty = content === undefined || content === null || (Array.isArray(content) && content.length === 0);
  if (isEmpty) return { events: [], isFromUser: false };
  if (role === "assistant") {
    return answer({
      type: "chat_response",
      message: toOpenAiContent(content),
      metadata: { ...metadata, ...answerFacts(item) },
    });
  }
  if (role === "system" || role === "developer")
    return { events: [{ type: "chat_request", role, content: toOpenAiContent(content) }], isFromUser: false };
  return { events: [{ type: "chat_request", content: toOpenAiContent(content) }], isFromUser: true };
}

function reasoningOf(item: Fields, metadata: EventMetadata): UnnamedEvent {
  const { text, facts } = readReasoningItem(item);
  return { type: "chat_response", reasoning: text, metadata: { ...metadata, ...facts } };
}

function callOf(item: Fields, metadata: EventMetadata): UnnamedEvent {
  const { facts, ...call } = readCallItem(item);
  return {
    type: "tool_call_request",
    call_id: stringOf(item, "call_id") ?? "",
    ...call,
    metadata: { ...metadata, ...facts },
  };
}

function answer(event: UnnamedEvent): BodyMessage {
  return { events: [event], isFromUser: false };
}

/** An item that only OpenAI understands, as it is. */
export function opaqueItem(value: RawLine): ContentPart {
  return { type: "opaque", provider: "openai", value };
}

/** The fields of an answer other than its content. */
export function answerFacts(item: RawLine): EventMetadata {
  const phase = stringOf(item, "phase");
  return phase === undefined ? {} : { phase };
}

/** Readable reasoning: its summary, and its text if a server gives it. */
interface ReasoningItem {
  readonly text: string;
  /** Parts of the summary, and of the text. */
  readonly summary: readonly unknown[];
  readonly content: readonly unknown[];
  readonly facts: EventMetadata;
}

export function readReasoningItem(item: RawLine): ReasoningItem {
  const [summary, content] = [listOf(item, "summary"), listOf(item, "content")];
  const texts = [...summary, ...content].flatMap((part) => (isRecord(part) ? (stringOf(part, "text") ?? []) : []));
  const encrypted = stringOf(item, "encrypted_content");
  return { text: texts.join("\n\n"), summary, content, facts: encrypted === undefined ? {} : { encrypted } };
}

/** A call: name and arguments, or the text that a custom tool takes. */
export interface CallItem {
  readonly name: string;
  readonly arguments: unknown;
  readonly facts: EventMetadata;
}

export function readCallItem(item: RawLine): CallItem {
  const isCustom = item["type"] === "custom_tool_call";
  return {
    name: stringOf(item, "name") ?? "",
    arguments: isCustom ? { input: item["input"] ?? "" } : readArguments(item["arguments"]),
    facts: isCustom ? { call_type: "custom" } : {},
  };
}

function listOf(item: RawLine, key: string): readonly unknown[] {
  const value = item[key];
  return Array.isArray(value) ? value : [];
}
