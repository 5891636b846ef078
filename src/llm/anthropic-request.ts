// What Anthropic's Messages API is sent for a request.
import { toAnthropicThread } from "../core/model/anthropic-thread.ts";
import { joinPrompts, splitPrompts } from "../core/model/thread.ts";
import type { LlmRequest } from "./llm-client.ts";

/** The parts of a body that are also counted. */
export interface AnthropicInput {
  readonly model: string;
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  readonly system?: string;
  readonly tools?: readonly Readonly<Record<string, unknown>>[];
}

/** A body of the Messages API. */
export interface AnthropicBody extends AnthropicInput {
  readonly max_tokens: number;
  /** Marks the last block that can be kept. */
  readonly cache_control?: { readonly type: "ephemeral" };
  readonly stream?: boolean;
}

/** Longest answer when the request names none, tokens: the API wants a number, and every model takes this one. */
const DEFAULT_MAX_TOKENS = 8192;

/** Gives what the model is sent; the same request always gives the same. */
export function toAnthropicInput({ model, view, system, tools = [] }: LlmRequest): AnthropicInput {
  const { prompts, rest } = splitPrompts(view);
  const prompt = joinPrompts(system, prompts);
  const messages = toAnthropicThread(rest, { model, complete: true }).messages.map(({ role, blocks }) => ({
    role,
    content: blocks.map(({ block }) => block),
  }));
  return {
    model,
    messages,
    ...(prompt !== "" && { system: prompt }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
    }),
  };
}

/** Gives the body of a request for an answer. */
export function toAnthropicBody(request: LlmRequest, stream: boolean): AnthropicBody {
  return {
    ...toAnthropicInput(request),
    max_tokens: request.maxTokens ?? DEFAULT_MAX_TOKENS,
    ...(request.cache === true && { cache_control: { type: "ephemeral" } }),
    ...(stream && { stream }),
  };
}
