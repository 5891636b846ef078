// Checks a message list against the structural rules of OpenAI Chat Completions: each rule is a small function in a table,
// ids as in the rule book (C1 …; C0 = the schema refuses it). C9 is about trimming functions, not about a list.
import { misnamedImages, OPENAI_IMAGES, refusedImages, type SentImage, sentInUrl } from "./image-rules.ts";
import {
  asObject,
  type ChatMessage,
  type OpenAiChatCheckOptions,
  type OpenAiChatInput,
  toOpenAiChatInput,
} from "./openai-chat-messages.ts";
import { OPENAI_CHAT_SHAPE_RULES } from "./openai-chat-shape.ts";
import { OPENAI_CHAT_TOOL_RULES } from "./openai-chat-tools.ts";
import { type Breach, type Rule, runRules, type Violation } from "./rule.ts";

export type { OpenAiChatCheckOptions } from "./openai-chat-messages.ts";

/**
 * Finds what the API would refuse (severity `error`) or what may harm (`warning`); empty = valid. Rules: C0–C6, C8, C10
 * (images), and for servers that are only compatible C7. Takes any values; `block` of a position counts parts or calls.
 */
export function checkOpenAiChat(
  messages: readonly unknown[],
  options: OpenAiChatCheckOptions = {},
): readonly Violation[] {
  return runRules("openai-chat", RULES, toOpenAiChatInput(messages, options));
}

function* saysNothing({ all }: OpenAiChatInput): Generator<Breach> {
  for (const message of assistants(all)) {
    if (message.calls.length === 0 && isNothing(message.value["content"]) && !hasOther(message))
      yield at(message, "A message of the assistant has neither content nor calls.");
  }
}

function* nullContent({ all, options }: OpenAiChatInput): Generator<Breach> {
  if (options.compatible !== true) return;
  for (const message of assistants(all)) {
    if (message.calls.length > 0 && (message.value["content"] ?? null) === null)
      yield at(message, 'The content beside calls is null; some servers want "".');
  }
}

function* compatibility({ all, options }: OpenAiChatInput): Generator<Breach> {
  if (options.compatible !== true) return;
  for (const [position, message] of all.entries()) {
    const before = all[position - 1];
    if (message.role === "tool" && typeof message.value["name"] !== "string")
      yield at(message, "A tool message has no name; some servers want it.");
    if (message.role === "user" && before?.role === "tool")
      yield at(message, "The user speaks directly after a tool; some servers want the assistant between.");
    if (before !== undefined && message.role !== "tool" && message.role === before.role)
      yield at(message, `Two messages of the ${String(message.role)} in a row; some servers want them to alternate.`);
  }
  const last = all.at(-1);
  if (options.complete !== false && last?.role === "assistant")
    yield at(last, "The last message is the assistant's; some servers take no prefill.");
}

function* reasoningSent({ all, options }: OpenAiChatInput): Generator<Breach> {
  if (options.reasoning === true) return;
  for (const message of assistants(all)) {
    if (typeof message.value["reasoning_content"] === "string")
      yield at(message, "A message carries reasoning_content, which only some servers take back.");
  }
}

function* sentImages({ all }: OpenAiChatInput): Generator<SentImage> {
  for (const { index, value } of all) {
    const parts = Array.isArray(value["content"]) ? value["content"] : [];
    for (const [block, part] of parts.entries()) {
      const { type, image_url } = asObject(part);
      if (type === "image_url") yield* sentInUrl(asObject(image_url)["url"], { message: index, block });
    }
  }
}

const RULES: readonly Rule<OpenAiChatInput>[] = [
  ...OPENAI_CHAT_SHAPE_RULES,
  ...OPENAI_CHAT_TOOL_RULES,
  { id: "C5", severity: "error", find: saysNothing },
  { id: "C5", severity: "warning", find: nullContent },
  { id: "C7", severity: "warning", find: compatibility },
  { id: "C8", severity: "warning", find: reasoningSent },
  { id: "C10", severity: "error", find: (input) => refusedImages([...sentImages(input)], OPENAI_IMAGES) },
  { id: "C10", severity: "warning", find: (input) => misnamedImages([...sentImages(input)], OPENAI_IMAGES) },
];

function assistants(all: readonly ChatMessage[]): readonly ChatMessage[] {
  return all.filter(({ role }) => role === "assistant");
}

function isNothing(content: unknown): boolean {
  return (
    content === undefined || content === null || content === "" || (Array.isArray(content) && content.length === 0)
  );
}

/** A refusal, a reference to audio, a call in the API's first form. */
function hasOther({ value }: ChatMessage): boolean {
  return ["refusal", "audio", "function_call"].some((key) => (value[key] ?? null) !== null);
}

function at({ index }: ChatMessage, message: string): Breach {
  return { position: { message: index }, message };
}
