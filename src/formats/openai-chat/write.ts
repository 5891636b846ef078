// A view as the messages of an OpenAI Chat Completions request: the hardened thread without the marks of where it came from.
import type { View } from "../../core/conversation/event.ts";
import { type OpenAiChatOptions, toOpenAiChatThread } from "../../core/model/openai-chat-thread.ts";

/** One message as the API takes it. */
type OpenAiChatMessage = Readonly<Record<string, unknown>>;

interface OpenAiChatExport {
  readonly messages: readonly OpenAiChatMessage[];
}

/** Exports a view. System prompts stay in place, as messages of that role. */
export function exportOpenAiChat(view: View, options: OpenAiChatOptions = {}): OpenAiChatExport {
  return { messages: toOpenAiChatThread(view, options).items.map(({ item }) => item) };
}
