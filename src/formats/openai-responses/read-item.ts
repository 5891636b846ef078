// An item of the Responses API as what it says. What only OpenAI understands goes through as it is.
import type { EventMetadata, Fields } from "../../core/conversation/event.ts";
import { stringOf } from "../json-line.ts";
import { toOpenAiContent } from "../openai-chat/content-parts.ts";
import type { SaidEvent, SaidMessage } from "../request-body/said.ts";
import { answerFacts, opaqueItem, readCallItem, readReasoningItem } from "./item-parts.ts";

/** Reads an item. `metadata` is that of what the model made. */
export function readItem(item: Fields, metadata: EventMetadata): SaidMessage {
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
        ? { said: [], isUsers: false }
        : answer({
            type: "chat_response",
            message: [opaqueItem(item)],
            metadata,
          });
  }
}

function readMessage(item: Fields, metadata: EventMetadata): SaidMessage {
  const { role, content } = item;
  const isEmpty = content === undefined || content === null || (Array.isArray(content) && content.length === 0);
  if (isEmpty) return { said: [], isUsers: false };
  if (role === "assistant") {
    return answer({
      type: "chat_response",
      message: toOpenAiContent(content),
      metadata: { ...metadata, ...answerFacts(item) },
    });
  }
  if (role === "system" || role === "developer")
    return { said: [{ type: "chat_request", role, content: toOpenAiContent(content) }], isUsers: false };
  return { said: [{ type: "chat_request", content: toOpenAiContent(content) }], isUsers: true };
}

function reasoningOf(item: Fields, metadata: EventMetadata): SaidEvent {
  const { text, facts } = readReasoningItem(item);
  return { type: "chat_response", reasoning: text, metadata: { ...metadata, ...facts } };
}

function callOf(item: Fields, metadata: EventMetadata): SaidEvent {
  const { facts, ...call } = readCallItem(item);
  return {
    type: "tool_call_request",
    call_id: stringOf(item, "call_id") ?? "",
    ...call,
    metadata: { ...metadata, ...facts },
  };
}

function answer(said: SaidEvent): SaidMessage {
  return { said: [said], isUsers: false };
}
