// Content of events as blocks of the Anthropic Messages API. Blank texts, which the API rejects, are left out here.
import {
  attachmentText,
  type ChatResponse,
  type Content,
  type ContentPart,
  type Event,
  fieldsOf,
  isText,
  plainText,
  type Text,
  type View,
} from "../conversation/event.ts";
import { isServerCall, isServerResult } from "./anthropic-rules.ts";
import { isSameModelFamily } from "./model-name.ts";
import { type AssignId, type CallPlan, type CallRules, planProviderCalls, unusedId } from "./thread.ts";

/** A content block as the API takes it. */
export type ContentBlock = Readonly<Record<string, unknown>>;

/** What a content became, and the rules that changed it on the way. */
interface BlockList {
  readonly blocks: readonly ContentBlock[];
  /** Ids of provider rules, in the order they were applied; empty when the content is unchanged. */
  readonly rules: readonly string[];
}

/** The content of a result that had only references to tools of its own session. */
const REMOVED_REFERENCES = "[Tool references removed - tools no longer available]";

/** Converts the content of a request or a message. */
export function toBlocks(content: Content): BlockList {
  if (isText(content)) return textBlocks(content);
  const lists = content.map(partBlocks);
  return { blocks: lists.flatMap((list) => list.blocks), rules: lists.flatMap((list) => list.rules) };
}

/**
 * Converts the content of a tool result: a text stays a text; the API accepts an empty one. References to tools stay only for a
 * reader that knows which of them it offers.
 */
export function toResultContent(
  content: Content,
  keepsReferences: boolean,
): {
  readonly content: string | readonly ContentBlock[];
  readonly rules: readonly string[];
} {
  if (isText(content)) return { content: plainText(content), rules: [] };
  const parts = keepsReferences ? content : content.filter((part) => !isToolReference(part));
  const { blocks, rules } = toBlocks(parts);
  if (parts.length === content.length) return { content: blocks, rules };
  const left = blocks.length > 0 ? blocks : [{ type: "text", text: REMOVED_REFERENCES }];
  return { content: left, rules: [...rules, "A21"] };
}

/** Converts reasoning; absent when the current model must not be sent it (A19). */
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
  // The API refuses a title of an image.
  const extra = title === undefined || type === "image" ? {} : { title };
  if (typeof data === "string")
    return { type, source: { type: "base64", media_type: media_type ?? "application/octet-stream", data }, ...extra };
  if (url !== undefined) return { type, source: { type: "url", url }, ...extra };
  return { type: "text", text: data === undefined ? `[${type}]` : plainText(data) };
}

function isToolReference(part: ContentPart): boolean {
  return part.type === "opaque" && fieldsOf(part.value)["type"] === "tool_reference";
}

// Tool calls and results as the Anthropic Messages API requires them: every call answered once, every result with its call, ids unique and
// well-formed (rules A1, A2, A6–A8). Ids change only where they must, and always in the same way.

export type { CallPlan } from "./thread.ts";

/** Longest id the API takes, in characters (A8). */
const MAX_ID = 64;

const assignId: AssignId = (call, isUsed) => {
  const valid = call.call_id.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, MAX_ID) || "call";
  const id = unusedId(valid, MAX_ID, isUsed);
  if (id === call.call_id) return { id, rules: [] };
  return { id, rules: [...(valid === call.call_id ? [] : ["A8"]), ...(id === valid ? [] : ["A6"])] };
};

const RULES: CallRules = {
  answers: "newest",
  assignId,
  rules: { unanswered: "A1", unasked: "A2", repeated: "A7" },
};

/** Plans the calls of a view. An unanswered call of the newest assistant message gets an error as its result, others are left out. */
export function planCalls(view: View): CallPlan {
  return planProviderCalls(view, RULES);
}

// Calls that the provider runs itself (web search, MCP servers of the API): blocks of the answer, the call and its result in one message. A
// half without the other is refused (rule A9).

/** Which calls have both halves in one message, by message and call. */
export type ServerCalls = ReadonlySet<string>;

/** Finds the calls that a message contains followed by their result. */
export function findServerCalls(view: View): ServerCalls {
  const called = new Set<string>();
  const whole = new Set<string>();
  for (const { key, isResult } of view.turns.flatMap(({ events }) => events.flatMap(halvesOf))) {
    if (!isResult) called.add(key);
    else if (called.has(key)) whole.add(key);
  }
  return whole;
}

interface Half {
  readonly key: string;
  readonly isResult: boolean;
}

function halvesOf(event: Event): readonly Half[] {
  if (event.type !== "chat_response" || !Array.isArray(event.message)) return [];
  const messageId = event.metadata?.message_id;
  return opaqueValues(event).flatMap((block): readonly Half[] => {
    if (isServerCall(block)) return [{ key: keyOf(messageId, block["id"]), isResult: false }];
    return isServerResult(block) ? [{ key: keyOf(messageId, block["tool_use_id"]), isResult: true }] : [];
  });
}

/** Whether a block may be sent: it is no half of a call, or its other half is sent too. */
export function isWholeServerCall(block: ContentBlock, messageId: string | undefined, calls: ServerCalls): boolean {
  if (isServerCall(block)) return calls.has(keyOf(messageId, block["id"]));
  return !isServerResult(block) || calls.has(keyOf(messageId, block["tool_use_id"]));
}

function opaqueValues(event: ChatResponse): readonly ContentBlock[] {
  const parts = Array.isArray(event.message) ? event.message : [];
  return parts.flatMap((part: unknown) => {
    const { type, value } = fieldsOf(part);
    return type === "opaque" ? [fieldsOf(value)] : [];
  });
}

function keyOf(messageId: string | undefined, callId: unknown): string {
  return `${messageId ?? ""} ${String(callId)}`;
}
