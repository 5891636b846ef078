// A view as messages without any repair: what a session would send if its agent sent it as it is. Checks over it find what is wrong with
// the session itself; jpg sends the hardened threads instead.
import {
  attachmentText,
  type ChatResponse,
  type Content,
  type Event,
  fieldsOf,
  isMedia,
  isText,
  type MediaPart,
  mediaOf,
  type ToolCallRequest,
  type ToolCallResponse,
  textOfContent,
  type View,
} from "../conversation/event.ts";
import { pairCalls } from "../conversation/tool-pairing.ts";
import { appendAll } from "../lists.ts";
import { toBlocks, toThinkingBlock } from "./anthropic-blocks.ts";
import { isServerCall, isServerResult } from "./anthropic-rules.ts";
import { toParts } from "./google-thread.ts";
import type { ProviderName } from "./provider-rules.ts";
import { agentsResult, formatReminder, missingResult } from "./thread.ts";

/** An item of a message. */
type NaiveItem =
  | { readonly kind: "text"; readonly event: string; readonly text: string }
  | { readonly kind: "media"; readonly event: string; readonly part: MediaPart }
  /** Half of a call that Anthropic runs itself. */
  | { readonly kind: "server_call"; readonly event: string; readonly block: Readonly<Record<string, unknown>> }
  | { readonly kind: "reasoning"; readonly event: string; readonly response: ChatResponse }
  | { readonly kind: "call"; readonly event: string; readonly call: ToolCallRequest }
  | { readonly kind: "result"; readonly event: string; readonly result: ToolCallResponse; readonly text: string };

/** Neighbours of one role are one message, the results of a user's message first. */
interface NaiveMessage {
  readonly role: "user" | "assistant";
  readonly items: readonly NaiveItem[];
}

/**
 * Renders a view as messages, without events that no model is sent and without what only one provider reads, except, if asked for, the
 * calls that Anthropic runs itself.
 */
export function toNaiveMessages(
  view: View,
  { serverCalls = false }: { readonly serverCalls?: boolean } = {},
): readonly NaiveMessage[] {
  const messages: { role: NaiveMessage["role"]; items: NaiveItem[] }[] = [];
  for (const event of withAgentsResults(view)) {
    const items = itemsOf(event).filter(({ kind }) => serverCalls || kind !== "server_call");
    const role = event.type === "chat_response" || event.type === "tool_call_request" ? "assistant" : "user";
    const last = messages.at(-1);
    if (last?.role === role) appendAll(last.items, items);
    else if (items.length > 0) messages.push({ role, items: [...items] });
  }
  return messages.map(({ role, items }) => ({ role, items: role === "user" ? resultsFirst(items) : items }));
}

/** A view's events, with the results that agents send for calls without one: each after the answer that made the call. */
function withAgentsResults({ turns }: View): readonly Event[] {
  const answered = new Set<Event>(
    pairCalls(
      turns.map(({ events }, index) => ({ index, events })),
      () => false,
    ).values(),
  );
  const events: Event[] = [];
  let missing: ToolCallRequest[] = [];
  const flush = (): void => {
    appendAll(events, missing.map(resultFor));
    missing = [];
  };
  for (const event of turns.flatMap((turn) => turn.events)) {
    const isAnswer = event.type === "chat_response" || event.type === "tool_call_request";
    const isNext = isAnswer && event.metadata?.message_id !== missing[0]?.metadata?.message_id;
    if (event.type === "chat_request" || isNext) flush();
    events.push(event);
    const isMissing = event.type === "tool_call_request" && !answered.has(event) && agentsResult(event) !== undefined;
    if (isMissing) missing.push(event);
  }
  flush();
  return events;
}

function resultFor(call: ToolCallRequest): ToolCallResponse {
  const { id, timestamp, call_id } = call;
  return { type: "tool_call_response", id, timestamp, call_id, content: missingResult(call), is_error: true };
}

function itemsOf(event: Event): readonly NaiveItem[] {
  const { id } = event;
  switch (event.type) {
    case "chat_request": {
      const isUser = event.role !== "system" && event.role !== "developer";
      const items = contentItems(id, event.content);
      return isUser ? items : items.map((item) => (item.kind === "text" ? remind(item) : item));
    }
    case "chat_response":
      if (event.reasoning !== undefined) return [{ kind: "reasoning", event: id, response: event }];
      return contentItems(id, event.message ?? JSON.stringify(event.data ?? null));
    case "tool_call_request":
      return [{ kind: "call", event: id, call: event }];
    case "tool_call_response":
      return [{ kind: "result", event: id, result: event, text: textOfContent(event.content) }];
    default:
      return [];
  }
}

function remind(item: Extract<NaiveItem, { readonly kind: "text" }>): NaiveItem {
  return { ...item, text: formatReminder(item.text) };
}

function contentItems(event: string, content: Content): readonly NaiveItem[] {
  if (isText(content)) return [{ kind: "text", event, text: textOfContent(content) }];
  return content.flatMap((part): readonly NaiveItem[] => {
    if (isMedia(part)) return [{ kind: "media", event, part }];
    if (part.type === "opaque") return serverCall(event, part.value);
    if (part.type === "text") return [{ kind: "text", event, text: textOfContent(part.text) }];
    return [{ kind: "text", event, text: attachmentText(part) }];
  });
}

function serverCall(event: string, value: unknown): readonly NaiveItem[] {
  const block = fieldsOf(value);
  return isServerCall(block) || isServerResult(block) ? [{ kind: "server_call", event, block }] : [];
}

function resultsFirst(items: readonly NaiveItem[]): readonly NaiveItem[] {
  const results = items.filter((item) => item.kind === "result");
  return results.length === 0 ? items : [...results, ...items.filter((item) => item.kind !== "result")];
}

// The naive messages of a view in the shape of each provider, with the event of every block.

type Json = Readonly<Record<string, unknown>>;

/** One entry of a provider's list. */
export interface NaiveEntry {
  readonly value: Json;
  /** Ids of the events of its blocks, in order; of the whole entry when it has no blocks. Never empty. */
  readonly events: readonly string[];
}

/** Renders a view for a provider without hardening: `messages`, `input` items or `contents`. */
export function toNaiveList(view: View, provider: ProviderName): readonly NaiveEntry[] {
  return SHAPES[provider](toNaiveMessages(view, { serverCalls: provider === "anthropic" }));
}

const SHAPES: Readonly<Record<ProviderName, (messages: readonly NaiveMessage[]) => readonly NaiveEntry[]>> = {
  anthropic: (messages) => messages.map(toAnthropic),
  "openai-chat": (messages) => messages.flatMap(toChat),
  "openai-responses": (messages) => messages.flatMap(toResponses),
  google: toGoogle,
};

function toAnthropic({ role, items }: NaiveMessage): NaiveEntry {
  const blocks = items.map((item) => ({ block: anthropicBlock(item), event: item.event }));
  return { value: { role, content: blocks.map(({ block }) => block) }, events: blocks.map(({ event }) => event) };
}

function anthropicBlock(item: NaiveItem): Json {
  switch (item.kind) {
    case "text":
      return { type: "text", text: item.text };
    case "media":
      return toBlocks([item.part]).blocks[0] ?? { type: "text", text: `[${item.part.type}]` };
    case "server_call":
      return item.block;
    case "reasoning":
      return toThinkingBlock(item.response, undefined) ?? { type: "thinking", thinking: item.response.reasoning };
    case "call":
      return { type: "tool_use", id: item.call.call_id, name: item.call.name, input: item.call.arguments };
    case "result":
      return { type: "tool_result", tool_use_id: item.result.call_id, content: anthropicResult(item) };
  }
}

/** A text, or blocks if there are images too. */
function anthropicResult({ text, result }: Extract<NaiveItem, { readonly kind: "result" }>): string | readonly Json[] {
  const images = imagesOf(result.content);
  if (images.length === 0) return text;
  return [...(text === "" ? [] : [{ type: "text", text }]), ...toBlocks(images).blocks];
}

/**
 * Texts and calls make one message; each result is a message of its own, before the texts of the user, who also shows the images of
 * results: a tool's message takes none.
 */
function toChat({ role, items }: NaiveMessage): readonly NaiveEntry[] {
  const results = items.flatMap((item) => (item.kind === "result" ? [item] : []));
  const calls = items.flatMap((item) => (item.kind === "call" ? [item] : []));
  const said = items.flatMap((item) => {
    if (item.kind !== "result") return item.kind === "text" || item.kind === "media" ? [item] : [];
    return imagesOf(item.result.content).map((part) => ({ kind: "media" as const, event: item.event, part }));
  });
  const hasImage = role === "user" && said.some((item) => urlOf(item) !== null);
  const text = said.map(textOf).join("\n");
  const message = { role, content: said.length === 0 ? null : hasImage ? said.map(chatPart) : text };
  const entries: NaiveEntry[] = results.map(({ event, result, text: content }) => ({
    value: { role: "tool", tool_call_id: result.call_id, content },
    events: [event],
  }));
  if (calls.length > 0)
    entries.push({ value: { ...message, tool_calls: calls.map(chatCall) }, events: eventsOf(calls) });
  else if (said.length > 0) entries.push({ value: message, events: eventsOf(said) });
  return entries;
}

function chatPart(item: NaiveItem): Json {
  const url = urlOf(item);
  return url === null ? { type: "text", text: textOf(item) } : { type: "image_url", image_url: { url } };
}

function chatCall({ call }: Extract<NaiveItem, { readonly kind: "call" }>): Json {
  return {
    id: call.call_id,
    type: "function",
    function: { name: call.name, arguments: argumentsText(call.arguments) },
  };
}

/** Each item is an entry of its own; reasoning of the session cannot be sent back without its provider's own items. */
function toResponses({ role, items }: NaiveMessage): readonly NaiveEntry[] {
  return items.flatMap((item): readonly NaiveEntry[] => {
    const events = [item.event];
    switch (item.kind) {
      case "reasoning":
        return [];
      case "call": {
        const { call_id, name } = item.call;
        return [
          { value: { type: "function_call", call_id, name, arguments: argumentsText(item.call.arguments) }, events },
        ];
      }
      case "result":
        return [
          {
            value: { type: "function_call_output", call_id: item.result.call_id, output: responsesOutput(item) },
            events,
          },
        ];
      default:
        return [{ value: { type: "message", role, content: [responsesPart(item, role)] }, events }];
    }
  });
}

function responsesPart(item: NaiveItem, role: NaiveMessage["role"]): Json {
  const url = role === "user" ? urlOf(item) : null;
  if (url !== null) return { type: "input_image", image_url: url };
  return { type: role === "user" ? "input_text" : "output_text", text: textOf(item) };
}

function responsesOutput({ text, result }: Extract<NaiveItem, { readonly kind: "result" }>): string | readonly Json[] {
  const images = imagesOf(result.content).map((part) => ({ type: "input_image", image_url: dataUrl(part) }));
  return images.length === 0 ? text : [...(text === "" ? [] : [{ type: "input_text", text }]), ...images];
}

/** Thoughts are never sent back; a result is named after the call that has its id. */
function toGoogle(messages: readonly NaiveMessage[]): readonly NaiveEntry[] {
  const calls = messages.flatMap(({ items }) => items.flatMap((item) => (item.kind === "call" ? [item.call] : [])));
  const names = new Map(calls.map(({ call_id, name }) => [call_id, name] as const));
  return messages.flatMap(({ role, items }) => {
    const sent = items.flatMap((item): readonly NaiveItem[] => {
      if (item.kind === "reasoning") return [];
      const images = item.kind === "result" ? imagesOf(item.result.content) : [];
      return [item, ...images.map((part) => ({ kind: "media" as const, event: item.event, part }))];
    });
    if (sent.length === 0) return [];
    const parts = sent.map((item) => googlePart(item, names));
    return [{ value: { role: role === "assistant" ? "model" : "user", parts }, events: eventsOf(sent) }];
  });
}

function googlePart(item: NaiveItem, names: ReadonlyMap<string, string>): Json {
  switch (item.kind) {
    case "call": {
      const signature = item.call.metadata?.signature;
      const functionCall = { name: item.call.name, args: item.call.arguments };
      return { functionCall, thoughtSignature: signature };
    }
    case "result": {
      const { call_id, is_error } = item.result;
      const response = { [is_error ? "error" : "output"]: item.text };
      return { functionResponse: { name: names.get(call_id) ?? call_id, response } };
    }
    case "media":
      return toParts([item.part]).parts[0] ?? { text: `[${item.part.type}]` };
    default:
      return { text: textOf(item) };
  }
}

/** Images whose bytes are known. */
function imagesOf(content: Content): readonly InlineImage[] {
  return mediaOf(content).filter(isInlineImage);
}

type InlineImage = MediaPart & { readonly data: string };

function isInlineImage(part: MediaPart): part is InlineImage {
  return part.type === "image" && typeof part.data === "string";
}

/** The data URL of an image; null of anything else. */
function urlOf(item: NaiveItem): string | null {
  return item.kind === "media" && isInlineImage(item.part) ? dataUrl(item.part) : null;
}

function dataUrl({ media_type, data }: InlineImage): string {
  return `data:${media_type ?? "application/octet-stream"};base64,${data}`;
}

function textOf(item: NaiveItem): string {
  if (item.kind === "text") return item.text;
  return item.kind === "media" ? `[${item.part.type}]` : "";
}

function argumentsText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? {});
}

function eventsOf(items: readonly NaiveItem[]): readonly string[] {
  return items.map(({ event }) => event);
}
