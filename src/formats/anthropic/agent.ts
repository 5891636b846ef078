// Reads requests of the Anthropic Messages API: `{system, messages, tools}`, or the messages alone.
import { readToolDefinition } from "../../core/conversation/defined-tools.ts";
import {
  type Content,
  type ContentPart,
  type EventMetadata,
  type Fields,
  fieldsOf,
  isFields,
} from "../../core/conversation/event.ts";
import type { AgentFormat } from "../agent-format.ts";
import { type BodyMessage, createBodyFormat, type UnnamedEvent } from "../request-body/read.ts";
import { isRecord, type RawLine, recordOf, stringOf } from "../session-source.ts";

/** Requests of the Anthropic Messages API. */
export const ANTHROPIC_REQUESTS: AgentFormat = createBodyFormat({
  name: "anthropic",
  title: "Anthropic Messages",
  shape: "an object with `messages`, and `system` next to them",
  read: ({ system, model, tools }, list) => {
    const metadata = { provider: "anthropic", ...(typeof model === "string" && { model }) };
    return {
      prompt: system === undefined ? null : toContent(system),
      messages: list.map((message) => readMessage(fieldsOf(message), metadata)),
      tools: Array.isArray(tools) ? tools.flatMap((tool) => toolOf(fieldsOf(tool)) ?? []) : [],
    };
  },
});

function blocksOf(message: unknown): readonly Fields[] {
  const content = fieldsOf(message)["content"];
  return Array.isArray(content) ? content.filter(isFields) : [];
}

function readMessage(message: Fields, metadata: EventMetadata): BodyMessage {
  const { role, content } = message;
  if (role === "assistant") return { events: answersOf(message, metadata), isFromUser: false };
  if (content === undefined || content === null) return { events: [], isFromUser: false };
  if (role === "system")
    return { events: [{ type: "chat_request", role: "system", content: toContent(content) }], isFromUser: false };
  const results = blocksOf(message).filter(isResult).map(readResultBlock);
  const others = results.length === 0 ? content : blocksOf(message).filter((block) => !isResult(block));
  const isEmpty = Array.isArray(others) && others.length === 0;
  const asked: readonly UnnamedEvent[] = isEmpty ? [] : [{ type: "chat_request", content: toContent(others) }];
  return { events: [...results, ...asked], isFromUser: results.length === 0 };
}

function answersOf(message: Fields, metadata: EventMetadata): readonly UnnamedEvent[] {
  const text = stringOf(message, "content");
  const blocks = text === undefined ? blocksOf(message) : [{ type: "text", text }];
  return blocks.map((block) => readAnswerBlock(block, { ...metadata, ...opaqueFieldsOf(block) }));
}

function isResult(block: Fields): boolean {
  return block["type"] === "tool_result";
}

function toolOf({ name, description, input_schema }: Fields): ReturnType<typeof readToolDefinition> {
  return readToolDefinition({ name, description, parameters: input_schema });
}

// Converts content blocks of the Messages API into content parts. What only the API understands is kept verbatim.

/** Converts a message's or a result's content; a list of one plain text becomes that text. */
export function toContent(content: unknown): Content {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return content === undefined || content === null ? "" : [toPart(content)];
  const parts = content.map(toPart);
  const [only] = parts;
  return parts.length === 1 && only?.type === "text" ? only.text : parts;
}

function toPart(block: unknown): ContentPart {
  if (typeof block === "string") return { type: "text", text: block };
  if (!isRecord(block)) return opaque(block);
  const text = stringOf(block, "text");
  if (block["type"] === "text" && text !== undefined) return { type: "text", text };
  if (block["type"] === "image" || block["type"] === "document")
    return toMediaPart(block, block["type"]) ?? opaque(block);
  return opaque(block);
}

function toMediaPart(block: RawLine, type: "image" | "document"): ContentPart | undefined {
  const source = recordOf(block, "source") ?? {};
  const title = stringOf(block, "title");
  const extra = title === undefined ? {} : { title };
  const data = stringOf(source, "data");
  const mediaType = stringOf(source, "media_type");
  const url = stringOf(source, "url");
  if (source["type"] === "base64" && data !== undefined && mediaType !== undefined) {
    return { type, media_type: mediaType, data, ...extra };
  }
  return source["type"] === "url" && url !== undefined ? { type, url, ...extra } : undefined;
}

function opaque(value: unknown): ContentPart {
  return { type: "opaque", provider: "anthropic", value };
}

/** Joins the texts of a content, each on its own line. */
export function plainTextOfParts(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .filter(isRecord)
    .flatMap((block) => stringOf(block, "text") ?? [])
    .join("\n");
}

// Converts blocks of the Messages API into events. The caller adds ids and times: the API has neither.

/** Reads a block of an assistant message. */
export function readAnswerBlock(block: Fields, metadata: EventMetadata): UnnamedEvent {
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

/** Reads a tool result. */
export function readResultBlock(block: Fields): UnnamedEvent {
  return {
    type: "tool_call_response",
    call_id: stringOf(block, "tool_use_id") ?? "",
    content: toContent(block["content"]),
    is_error: block["is_error"] === true,
  };
}

/** Returns what only the provider can read in a block; it is sent back unchanged. */
export function opaqueFieldsOf(block: Fields): Pick<EventMetadata, "signature" | "encrypted"> {
  const signature = stringOf(block, "signature");
  const encrypted = block["type"] === "redacted_thinking" ? stringOf(block, "data") : undefined;
  return { signature, encrypted };
}
