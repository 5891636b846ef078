// An answer's blocks as events: texts, reasoning and calls, each with who made it. What pi needs to send a block again to the
// model that made it, its signature, stays with it.

import type { EventMetadata } from "../../core/conversation/event.ts";
import { defined } from "../../core/json.ts";
import { parseJsonLine, type RawLine, stringOf } from "../json-line.ts";
import { contentOfBlocks } from "./content-parts.ts";
import { blocksOf, saidMessage } from "./line.ts";

/** An event without id and time. */
export type EventBody = Readonly<Record<string, unknown>> & { readonly type: string };

/** What pi says in the place of reasoning that it was given encrypted. */
export const REDACTED = "[Reasoning redacted]";
/** How answers end as a matter of course. */
const USUAL_ENDS: ReadonlySet<unknown> = new Set(["stop", "toolUse"]);

/** Gives the events of an answer in block order; usage and the like stand with the first. None for an empty answer. */
export function answerEvents(line: RawLine, messageId: string): readonly EventBody[] {
  const message = saidMessage(line);
  return blocksOf(message["content"]).map((block, at) => blockBody(block, metadataOf(message, messageId, at === 0)));
}

function metadataOf(message: RawLine, messageId: string, isFirst: boolean): EventMetadata {
  const provider = stringOf(message, "provider");
  const model = stringOf(message, "model");
  const api = stringOf(message, "api");
  const { usage, stopReason } = message;
  return {
    ...defined({ provider, model, api }),
    message_id: messageId,
    ...(isFirst && usage !== undefined && { usage }),
    ...(isFirst && stopReason !== undefined && !USUAL_ENDS.has(stopReason) && { stop_reason: stopReason }),
  };
}

function blockBody(block: RawLine, made: EventMetadata): EventBody {
  switch (block["type"]) {
    case "thinking":
      return thinkingBody(block, made);
    case "toolCall":
      return {
        type: "tool_call_request",
        call_id: stringOf(block, "id") ?? "",
        name: stringOf(block, "name") ?? "",
        arguments: block["arguments"] ?? {},
        metadata: signed(made, block, "thoughtSignature"),
      };
    default:
      return {
        type: "chat_response",
        message: contentOfBlocks([block]),
        metadata: signed(made, block, "textSignature"),
      };
  }
}

/** Of Anthropic's the signature is the encrypted text itself, of OpenAI's the whole item with the encrypted text in it. */
function thinkingBody(block: RawLine, made: EventMetadata): EventBody {
  const reasoning = stringOf(block, "thinking") ?? "";
  const signature = stringOf(block, "thinkingSignature");
  if (block["redacted"] === true && signature !== undefined)
    return { type: "chat_response", reasoning: "", metadata: { ...made, encrypted: signature } };
  const encrypted = signature === undefined ? undefined : encryptedOf(signature);
  return {
    type: "chat_response",
    reasoning,
    metadata: { ...signed(made, block, "thinkingSignature"), ...defined({ encrypted }) },
  };
}

function encryptedOf(signature: string): string | undefined {
  const item = signature.startsWith("{") ? parseJsonLine(signature) : null;
  return item === null || typeof item === "string" ? undefined : stringOf(item, "encrypted_content");
}

function signed(made: EventMetadata, block: RawLine, key: string): EventMetadata {
  const signature = stringOf(block, key);
  return signature === undefined ? made : { ...made, signature };
}
