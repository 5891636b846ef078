// A view as the body of an Anthropic Messages request: the hardened thread without the marks of where it came from.

import { textOfContent } from "../../core/anthropic-blocks.ts";
import { type AnthropicOptions, toAnthropicThread } from "../../core/anthropic-thread.ts";
import type { ChatRequest, Event } from "../../core/event.ts";
import type { View } from "../../core/view.ts";

/** One message as the API takes it. */
export interface AnthropicMessage {
  readonly role: "user" | "assistant" | "system";
  readonly content: readonly Readonly<Record<string, unknown>>[];
}

export interface AnthropicExport {
  /** System prompt of the conversation, when its events hold one; absent otherwise. */
  readonly system?: string;
  readonly messages: readonly AnthropicMessage[];
}

/** Exports a view. System prompts before everything else become `system`. */
export function exportAnthropic(view: View, options: AnthropicOptions = {}): AnthropicExport {
  const prompts = leadingPrompts(view);
  const system = [...prompts].map((event) => textOfContent(event.content)).join("\n\n");
  const { messages } = toAnthropicThread(withoutEvents(view, prompts), options);
  return {
    ...(system !== "" && { system }),
    messages: messages.map(({ role, blocks }) => ({ role, content: blocks.map(({ block }) => block) })),
  };
}

/** System and developer requests that nobody's harness or summary made and that stand before all other messages. */
function leadingPrompts(view: View): ReadonlySet<ChatRequest> {
  const prompts = new Set<ChatRequest>();
  for (const event of view.turns.flatMap((turn) => turn.events)) {
    if (isPrompt(event)) prompts.add(event);
    else if (/^(chat|tool_call)_/.test(event.type)) break;
  }
  return prompts;
}

function isPrompt(event: Event): event is ChatRequest {
  if (event.type !== "chat_request" || event.metadata?.origin !== undefined) return false;
  return event.role === "system" || event.role === "developer";
}

function withoutEvents(view: View, events: ReadonlySet<Event>): View {
  if (events.size === 0) return view;
  const turns = view.turns.map((turn) => ({ ...turn, events: turn.events.filter((event) => !events.has(event)) }));
  return { turns };
}
