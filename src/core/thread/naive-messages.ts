// A view as messages with nothing repaired: what a session would send if its agent only laid it out. Checks over it find what
// is wrong with the session itself; what jpg sends goes through the hardened threads instead.
import { appendAll } from "../append-all.ts";
import { attachmentText, isMedia, isText, type MediaPart, textOfContent } from "../event/content.ts";
import type { ChatResponse, Content, Event, ToolCallRequest, ToolCallResponse } from "../event/event.ts";
import { fieldsOf } from "../event/fields.ts";
import type { View } from "../projection/view.ts";
import { isServerCall, isServerResult } from "../provider-rules/server-blocks.ts";
import { formatReminder } from "./reminder.ts";

/** What stands in a message. */
export type NaiveItem =
  | { readonly kind: "text"; readonly event: string; readonly text: string }
  | { readonly kind: "media"; readonly event: string; readonly part: MediaPart }
  /** Half of a call that Anthropic runs itself. */
  | { readonly kind: "server_call"; readonly event: string; readonly block: Readonly<Record<string, unknown>> }
  | { readonly kind: "reasoning"; readonly event: string; readonly response: ChatResponse }
  | { readonly kind: "call"; readonly event: string; readonly call: ToolCallRequest }
  | { readonly kind: "result"; readonly event: string; readonly result: ToolCallResponse; readonly text: string };

/** Neighbours of one role stand in one message, the results of a user's message first. */
export interface NaiveMessage {
  readonly role: "user" | "assistant";
  readonly items: readonly NaiveItem[];
}

/**
 * Lays a view out; events that no model is sent are left out, and what only one provider reads, but for calls that Anthropic
 * runs itself where they are asked for.
 */
export function toNaiveMessages(
  view: View,
  { serverCalls = false }: { readonly serverCalls?: boolean } = {},
): readonly NaiveMessage[] {
  const messages: { role: NaiveMessage["role"]; items: NaiveItem[] }[] = [];
  for (const event of view.turns.flatMap((turn) => turn.events)) {
    const items = itemsOf(event).filter(({ kind }) => serverCalls || kind !== "server_call");
    const role = event.type === "chat_response" || event.type === "tool_call_request" ? "assistant" : "user";
    const last = messages.at(-1);
    if (last?.role === role) appendAll(last.items, items);
    else if (items.length > 0) messages.push({ role, items: [...items] });
  }
  return messages.map(({ role, items }) => ({ role, items: role === "user" ? resultsFirst(items) : items }));
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
