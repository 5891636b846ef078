// Blocks of the Messages API as what they say. Ids and times are the caller's: an API knows neither.

import type { EventMetadata, Fields } from "../../core/conversation/event.ts";
import { defined } from "../../core/json.ts";
import { stringOf } from "../json-line.ts";
import type { SaidEvent } from "../request-body/said.ts";
import { toContent } from "./content-parts.ts";

/** Reads a block of the assistant's. */
export function readAnswerBlock(block: Fields, metadata: EventMetadata): SaidEvent {
  switch (block["type"]) {
    case "thinking":
      return { type: "chat_response", reasoning: stringOf(block, "thinking") ?? "", metadata };
    case "redacted_thinking":
      return { type: "chat_response", reasoning: "", metadata };
    case "tool_use":
      return {
        type: "tool_call_request",
        call_id: stringOf(block, "id") ?? "",
        name: stringOf(block, "name") ?? "",
        arguments: block["input"] ?? {},
        metadata,
      };
    default:
      return { type: "chat_response", message: toContent([block]), metadata };
  }
}

/** Reads the result of a call. */
export function readResultBlock(block: Fields): SaidEvent {
  return {
    type: "tool_call_response",
    call_id: stringOf(block, "tool_use_id") ?? "",
    content: toContent(block["content"]),
    is_error: block["is_error"] === true,
  };
}

/** What only the provider reads of a block: it comes back to it unchanged. */
export function secretsOfBlock(block: Fields): Pick<EventMetadata, "signature" | "encrypted"> {
  const signature = stringOf(block, "signature");
  const encrypted = block["type"] === "redacted_thinking" ? stringOf(block, "data") : undefined;
  return { ...defined({ signature, encrypted }) };
}
