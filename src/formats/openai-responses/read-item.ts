// An item of the Responses API as what it says. What only OpenAI understands goes through as it is.
import type { EventMetadata } from "../../core/event/event.ts";
import { type Fields, fieldsOf } from "../../core/event/fields.ts";
import { stringOf } from "../json-line.ts";
import { toOpenAiContent } from "../openai-chat/content-parts.ts";
import { readArguments } from "../openai-chat/read-arguments.ts";
import type { SaidEvent, SaidMessage } from "../request-body/said.ts";

/** Reads an item. `metadata` is that of what the model made. */
export function readItem(item: Fields, metadata: EventMetadata): SaidMessage {
  const { type = "message", content } = item;
  switch (type) {
    case "message":
      return readMessage(item, metadata);
    case "reasoning":
      return answer(readReasoning(item, metadata));
    case "function_call":
    case "custom_tool_call":
      return answer(readCall(item, metadata));
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
            message: [{ type: "opaque", provider: "openai", value: item }],
            metadata,
          });
  }
}

function readMessage(item: Fields, metadata: EventMetadata): SaidMessage {
  const { role, content } = item;
  const isEmpty = content === undefined || content === null || (Array.isArray(content) && content.length === 0);
  if (isEmpty) return { said: [], isUsers: false };
  if (role === "assistant") {
    const phase = stringOf(item, "phase");
    return answer({
      type: "chat_response",
      message: toOpenAiContent(content),
      metadata: { ...metadata, ...(phase !== undefined && { phase }) },
    });
  }
  if (role === "system" || role === "developer")
    return { said: [{ type: "chat_request", role, content: toOpenAiContent(content) }], isUsers: false };
  return { said: [{ type: "chat_request", content: toOpenAiContent(content) }], isUsers: true };
}

/** What may be read of reasoning is its summary, or its text where a server gives it. */
function readReasoning(item: Fields, metadata: EventMetadata): SaidEvent {
  const texts = [item["summary"], item["content"]]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .flatMap((part) => stringOf(fieldsOf(part), "text") ?? []);
  const encrypted = stringOf(item, "encrypted_content");
  return {
    type: "chat_response",
    reasoning: texts.join("\n\n"),
    metadata: { ...metadata, ...(encrypted !== undefined && { encrypted }) },
  };
}

function readCall(item: Fields, metadata: EventMetadata): SaidEvent {
  const isCustom = item["type"] === "custom_tool_call";
  return {
    type: "tool_call_request",
    call_id: stringOf(item, "call_id") ?? "",
    name: stringOf(item, "name") ?? "",
    arguments: isCustom ? { input: item["input"] ?? "" } : readArguments(item["arguments"]),
    metadata: { ...metadata, ...(isCustom && { call_type: "custom" }) },
  };
}

function answer(said: SaidEvent): SaidMessage {
  return { said: [said], isUsers: false };
}
