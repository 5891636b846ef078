// A view as the body of an OpenAI Responses request: the hardened thread without the marks of where it came from.
import { textOfContent, type View } from "../../core/conversation/event.ts";
import { type OpenAiResponsesOptions, toOpenAiResponsesThread } from "../../core/model/openai-responses-thread.ts";
import { splitPrompts } from "../../core/model/thread.ts";

/** One input item as the API takes it. */
type OpenAiResponsesItem = Readonly<Record<string, unknown>>;

interface OpenAiResponsesExport {
  /** System prompt of the conversation, when its events hold one; absent otherwise. */
  readonly instructions?: string;
  readonly input: readonly OpenAiResponsesItem[];
}

/** Exports a view. System prompts before everything else become `instructions`. */
export function exportOpenAiResponses(view: View, options: OpenAiResponsesOptions = {}): OpenAiResponsesExport {
  const { prompts, rest } = splitPrompts(view);
  const instructions = prompts.map((event) => textOfContent(event.content)).join("\n\n");
  const { items } = toOpenAiResponsesThread(rest, options);
  return { ...(instructions.trim() !== "" && { instructions }), input: items.map(({ item }) => item) };
}
