// Content of events as blocks of the Anthropic Messages API. Blank texts, which the API rejects, are left out here.
import { attachmentText, isText, plainText } from "../event/content.ts";
import type { ChatResponse, Content, ContentPart, Text } from "../event/event.ts";
import { fieldsOf } from "../event/fields.ts";
import { isSameModelFamily } from "../model/model-family.ts";

/** A content block as the API takes it. */
export type ContentBlock = Readonly<Record<string, unknown>>;

/** What a content became, and the rules that changed it on the way. */
export interface BlockList {
  readonly blocks: readonly ContentBlock[];
  /** Ids of provider rules, in the order they were met; empty when the content went through as it is. */
  readonly rules: readonly string[];
}

/** Said where a result held only references to tools of the session it was made in. */
const REMOVED_REFERENCES = "[Tool references removed - tools no longer available]";

/** Converts the content of a request or a message. */
export function toBlocks(content: Content): BlockList {
  if (isText(content)) return textBlocks(content);
  const lists = content.map(partBlocks);
  return { blocks: lists.flatMap((list) => list.blocks), rules: lists.flatMap((list) => list.rules) };
}

/** Converts the content of a tool result: a text stays a text; the API takes an empty one. */
export function toResultContent(content: Content): {
  readonly content: string | readonly ContentBlock[];
  readonly rules: readonly string[];
} {
  if (isText(content)) return { content: plainText(content), rules: [] };
  const parts = content.filter((part) => !isToolReference(part));
  const { blocks, rules } = toBlocks(parts);
  if (parts.length === content.length) return { content: blocks, rules };
  const left = blocks.length > 0 ? blocks : [{ type: "text", text: REMOVED_REFERENCES }];
  return { content: left, rules: [...rules, "A21"] };
}

/** Converts reasoning; absent when the model in force must not be sent it (A19). */
export function toThinkingBlock(event: ChatResponse, model: string | undefined): ContentBlock | undefined {
  const { provider, model: maker, signature, encrypted } = event.metadata ?? {};
  if (provider !== undefined && provider !== "anthropic") return undefined;
  if (model !== undefined && maker !== undefined && !isSameModelFamily(model, maker)) return undefined;
  if (encrypted !== undefined) return { type: "redacted_thinking", data: encrypted };
  if (signature === undefined || signature === "") return undefined;
  return { type: "thinking", thinking: plainText(event.reasoning ?? ""), signature };
}

function textBlocks(content: Text): BlockList {
  const text = plainText(content);
  return text.trim() === "" ? { blocks: [], rules: ["A10"] } : { blocks: [{ type: "text", text }], rules: [] };
}

function partBlocks(part: ContentPart): BlockList {
  switch (part.type) {
    case "text":
      return textBlocks(part.text);
    case "attachment":
      return textBlocks(attachmentText(part));
    case "opaque":
      return part.provider === "anthropic" || part.provider === undefined
        ? opaqueBlocks(part.value)
        : { blocks: [], rules: ["A19"] };
    case "image":
    case "document":
      return { blocks: [mediaBlock(part)], rules: [] };
  }
}

function opaqueBlocks(value: unknown): BlockList {
  const isBlock = typeof value === "object" && value !== null && "type" in value;
  return isBlock ? { blocks: [value as ContentBlock], rules: [] } : { blocks: [], rules: ["A11"] };
}

function mediaBlock(part: Extract<ContentPart, { readonly type: "image" | "document" }>): ContentBlock {
  const { type, data, media_type, url, title } = part;
  const extra = title === undefined ? {} : { title };
  if (typeof data === "string")
    return { type, source: { type: "base64", media_type: media_type ?? "application/octet-stream", data }, ...extra };
  if (url !== undefined) return { type, source: { type: "url", url }, ...extra };
  return { type: "text", text: data === undefined ? `[${type}]` : plainText(data) };
}

function isToolReference(part: ContentPart): boolean {
  return part.type === "opaque" && fieldsOf(part.value)["type"] === "tool_reference";
}
