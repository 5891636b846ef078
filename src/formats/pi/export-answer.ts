// An answer of a view as a message of pi: blocks of all its events, and the model that made it, by which pi decides whether
// reasoning is sent again.

import {
  type ChatResponse,
  type Event,
  type EventMetadata,
  plainText,
  type ToolCallRequest,
} from "../../core/conversation/event.ts";
import { isSameModelFamily } from "../../core/model/model-name.ts";
import type { RawLine } from "../json-line.ts";
import { REDACTED } from "./answer-events.ts";
import { blocksOfContent } from "./content-parts.ts";

/** Which model pi takes an answer to be of. */
export interface AnswerModel {
  readonly api: string;
  readonly provider: string;
  readonly model: string;
}

/** Of a conversation in which no answer says who made it: pi then takes the model that the user chose. */
export const UNKNOWN_MODEL: AnswerModel = { api: "unknown", provider: "unknown", model: "unknown" };

/** What pi calls the API of a provider, where the event does not say. */
const APIS: Readonly<Record<string, string>> = {
  anthropic: "anthropic-messages",
  openai: "openai-responses",
  google: "google-generative-ai",
};

/**
 * Counts of the original requests say nothing of this view, and pi takes the newest for the size of its context, and all for
 * what the session cost.
 */
const NO_USAGE = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

/** Reads the model of an event; null when it does not say. */
export function answerModelOf({ metadata }: Event): AnswerModel | null {
  const { provider, model } = metadata ?? {};
  if (provider === undefined || model === undefined) return null;
  const api = metadata?.["api"];
  return { api: typeof api === "string" ? api : (APIS[provider] ?? "unknown"), provider, model };
}

/** Creates the message of an answer. */
export function createAnswer(
  events: readonly Event[],
  blocks: readonly RawLine[],
  { api, provider, model }: AnswerModel,
): RawLine {
  const ending = events.map(({ metadata }) => metadata?.["stop_reason"]).find((reason) => reason !== undefined);
  const usual = blocks.some(({ type }) => type === "toolCall") ? "toolUse" : "stop";
  return {
    role: "assistant",
    content: blocks,
    api,
    provider,
    model,
    usage: NO_USAGE,
    stopReason: ending === "length" ? "length" : usual,
  };
}

/** The block of a call. */
export function callBlock(call: ToolCallRequest, id: string): RawLine {
  const { name, arguments: given, metadata } = call;
  const input = typeof given === "object" && given !== null ? given : { input: given };
  return { type: "toolCall", id, name, arguments: input, ...signature(metadata, "thoughtSignature") };
}

/** The blocks of what was said; `model` = the one that will read it, where that is known. */
export function saidBlocks(event: ChatResponse, model: string | undefined): readonly RawLine[] {
  if (event.reasoning !== undefined) return thinkingBlocks(event, model);
  if (event.message === undefined) return [{ type: "text", text: JSON.stringify(event.data ?? null) }];
  const blocks = blocksOfContent(event.message);
  const [only] = blocks;
  if (blocks.length !== 1 || only?.["type"] !== "text") return blocks;
  return [{ ...only, ...signature(event.metadata, "textSignature") }];
}

/** pi's own goes back as it was. Of other agents' only what Anthropic signed: pi needs more of the others than they keep. */
function thinkingBlocks(
  { reasoning = "", metadata = {} }: ChatResponse,
  model: string | undefined,
): readonly RawLine[] {
  const { provider, model: maker, encrypted, signature: signed = "" } = metadata;
  if (model !== undefined && maker !== undefined && !isSameModelFamily(model, maker)) return [];
  const thinking = plainText(reasoning);
  const isOwn = metadata["api"] !== undefined;
  if (encrypted !== undefined && signed === "" && (isOwn || provider === "anthropic"))
    return [{ type: "thinking", thinking: REDACTED, thinkingSignature: encrypted, redacted: true }];
  if (isOwn) return [{ type: "thinking", thinking, ...signature(metadata, "thinkingSignature") }];
  return provider === "anthropic" && signed !== "" ? [{ type: "thinking", thinking, thinkingSignature: signed }] : [];
}

/** Only pi's own texts and calls are signed as pi wants it. */
function signature(metadata: EventMetadata | undefined, key: string): RawLine {
  const signed = metadata?.signature;
  return signed === undefined || metadata?.["api"] === undefined ? {} : { [key]: signed };
}
