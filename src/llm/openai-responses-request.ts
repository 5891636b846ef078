// The body of a Responses request. The API stores nothing: reasoning comes back encrypted and is kept here.
import { modelFamily } from "../core/model/model-name.ts";
import { toOpenAiResponsesThread } from "../core/model/openai-responses-thread.ts";
import { joinPrompts, splitPrompts } from "../core/model/thread.ts";
import type { LlmRequest } from "./client.ts";

/** A body of the Responses API. */
export type ResponsesBody = Readonly<Record<string, unknown>>;

/** Models without reasoning refuse `include: reasoning.encrypted_content`. */
const NO_REASONING = /^(?:gpt-(?:3|4)|chatgpt)|-chat$/;

/** Renders the body; deterministic. */
export function toResponsesBody(request: LlmRequest, stream: boolean): ResponsesBody {
  const { model, view, system, tools = [], maxTokens } = request;
  const { prompts, rest } = splitPrompts(view);
  const instructions = joinPrompts(system, prompts);
  return {
    model,
    input: toOpenAiResponsesThread(rest, { model }).items.map(({ item }) => item),
    store: false,
    ...(!NO_REASONING.test(modelFamily(model)) && { include: ["reasoning.encrypted_content"] }),
    ...(instructions !== "" && { instructions }),
    ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: "function", ...tool, strict: false })) }),
    max_output_tokens: maxTokens,
    ...(stream && { stream: true }),
  };
}
