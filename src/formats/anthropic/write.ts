// A view as the body of an Anthropic Messages request: the hardened thread without the marks of where it came from.
import { textOfContent, type View } from "../../core/conversation/event.ts";
import { type AnthropicOptions, toAnthropicThread } from "../../core/model/anthropic-thread.ts";
import { splitPrompts } from "../../core/model/thread.ts";

/** One message as the API takes it. */
interface ExportedAnthropicMessage {
  readonly role: "user" | "assistant" | "system";
  readonly content: readonly Readonly<Record<string, unknown>>[];
}

interface AnthropicExport {
  /** System prompt of the conversation, when its events hold one; absent otherwise. */
  readonly system?: string;
  readonly messages: readonly ExportedAnthropicMessage[];
}

/** Exports a view. System prompts before everything else become `system`. */
export function exportAnthropic(view: View, options: AnthropicOptions = {}): AnthropicExport {
  const { prompts, rest } = splitPrompts(view);
  const system = prompts.map((event) => textOfContent(event.content)).join("\n\n");
  const { messages } = toAnthropicThread(rest, options);
  return {
    ...(system !== "" && { system }),
    messages: messages.map(({ role, blocks }) => ({ role, content: blocks.map(({ block }) => block) })),
  };
}
