// The body of a Chat Completions request.
import { toOpenAiChatThread } from "../core/model/openai-chat-thread.ts";
import type { LlmConnection, LlmRequest } from "./client.ts";

/** A body of Chat Completions. */
export type ChatBody = Readonly<Record<string, unknown>>;

/** Renders the body; deterministic. */
export function toChatBody(
  { provider }: Pick<LlmConnection, "provider">,
  request: LlmRequest,
  stream: boolean,
): ChatBody {
  const { model, view, system = "", tools = [], maxTokens } = request;
  // OpenAI's newer models refuse the old name; most other servers only know that one.
  const limit = provider === "openai" ? "max_completion_tokens" : "max_tokens";
  return {
    model,
    messages: toOpenAiChatThread(view, { model, system }).items.map(({ item }) => item),
    ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: "function", function: { ...tool } })) }),
    ...(maxTokens !== undefined && { [limit]: maxTokens }),
    ...(stream && { stream: true, stream_options: { include_usage: true } }),
  };
}
