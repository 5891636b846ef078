// Calls that the provider runs itself (web search, MCP servers of the API): blocks of the answer, the call and its result
// in one message. A half without the other is refused (rule A9).
import type { ChatResponse, Event } from "../event/event.ts";
import { fieldsOf } from "../event/fields.ts";
import type { View } from "../projection/view.ts";
import { isServerCall, isServerResult } from "../provider-rules/server-blocks.ts";
import type { ContentBlock } from "./anthropic-blocks.ts";

/** Which calls have both halves in one message, by message and call. */
export type ServerCalls = ReadonlySet<string>;

/** Finds the calls of which a message holds the call first and then its result. */
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
