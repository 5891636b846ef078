// Checks a message list against the structural rules of the Anthropic Messages API: each rule is a small function in a
// table, ids as in the rule book (A1 …; A0 = the message is no message). What needs the model's own data is not checked.
import { fieldsOf } from "../event/fields.ts";
import { contextWindow } from "../model/context-window.ts";
import {
  type AnthropicBlock,
  type AnthropicChecked,
  type AnthropicCheckOptions,
  type AnthropicMessage,
  blocksOfType,
  toAnthropicChecked,
} from "./anthropic-messages.ts";
import { hasModelFeature } from "./anthropic-models.ts";
import { ANTHROPIC_SERVER_TOOL_RULE } from "./anthropic-server-tools.ts";
import { ANTHROPIC_TOOL_RULES } from "./anthropic-tools.ts";
import { ANTHROPIC_IMAGES, type ImageLimits, refusedImages, type SentImage } from "./image-rules.ts";
import { type Breach, type Rule, runRules, type Violation } from "./rule.ts";

export type { AnthropicCheckOptions, AnthropicMessage } from "./anthropic-messages.ts";

/**
 * Finds what the Anthropic API would refuse (severity `error`) or what may harm (`warning`); empty = valid. Rules: A0–A15, A17 and A18 when `thinking` is given, A19 as far as the
 * shape shows it, A24 (images).
 */
export function checkAnthropic(
  messages: readonly AnthropicMessage[],
  options: AnthropicCheckOptions = {},
): readonly Violation[] {
  return runRules("anthropic", RULES, toAnthropicChecked(messages, options));
}

function* noMessage({ all, options }: AnthropicChecked): Generator<Breach> {
  const system = options.model === undefined || hasModelFeature(options.model, "system_messages");
  for (const { index, role } of all) {
    if (role === "user" || role === "assistant" || (role === "system" && system)) continue;
    const expected = system ? "user, assistant or system" : `user or assistant for ${options.model}`;
    yield { position: { message: index }, message: `The role is ${JSON.stringify(role)}; expected ${expected}.` };
  }
}

function* emptyText({ all }: AnthropicChecked): Generator<Breach> {
  for (const { value, position } of blocksOfType(all, "text")) {
    if (typeof value["text"] === "string" && value["text"].trim() !== "") continue;
    const place = all[position.message]?.plain === true ? { message: position.message } : position;
    yield { position: place, message: "A text is empty or only white space." };
  }
}

function* emptyMessage({ all }: AnthropicChecked): Generator<Breach> {
  for (const { index, role, blocks } of all) {
    const optional = role === "assistant" && index === all.length - 1;
    if (blocks.length === 0 && !optional)
      yield { position: { message: index }, message: `A message of the ${role} is empty.` };
  }
}

function* wrongFirst({ dialogue, all }: AnthropicChecked): Generator<Breach> {
  const first = dialogue[0];
  if (first === undefined)
    yield { position: { message: 0 }, message: all.length === 0 ? "The list is empty." : "No message of the user." };
  else if (first.role !== "user")
    yield {
      position: { message: first.index },
      message: `The first message is of the ${first.role}; expected the user.`,
    };
}

function* sameRole({ all }: AnthropicChecked): Generator<Breach> {
  for (const [at, message] of all.entries()) {
    if (at > 0 && all[at - 1]?.role === message.role) {
      yield {
        position: { message: message.index },
        message: `Two messages of the ${message.role} in a row; the API joins them.`,
      };
    }
  }
}

function* prefill({ dialogue, options }: AnthropicChecked): Generator<Breach> {
  const last = dialogue.at(-1);
  if (options.complete === false || last?.role !== "assistant" || !hasModelFeature(options.model, "no_prefill")) return;
  yield {
    position: { message: last.index },
    message: `The last message is the assistant's; ${options.model} takes no prefill.`,
  };
}

function* trailingSpace({ dialogue, options }: AnthropicChecked): Generator<Breach> {
  const last = dialogue.at(-1);
  if (options.complete === false || last?.role !== "assistant") return;
  const text = last.blocks.at(-1)?.["text"];
  if (typeof text === "string" && text.trimEnd() !== text) {
    yield {
      position: { message: last.index },
      message: "The last message is the assistant's and ends in white space.",
    };
  }
}

function* loopWithoutThinking({ dialogue, options }: AnthropicChecked): Generator<Breach> {
  const [call, results] = dialogue.slice(-2);
  const inLoop =
    call?.role === "assistant" && results?.blocks.some((block) => block["type"] === "tool_result") === true;
  if (options.thinking !== true || !inLoop || isThinking(call.blocks[0]?.["type"])) return;
  yield {
    position: { message: call.index },
    message: "Thinking is on and the message of an open tool loop does not start with it.",
  };
}

function* thinkingAtEnd({ dialogue, options }: AnthropicChecked): Generator<Breach> {
  const last = dialogue.findLast(({ role }) => role === "assistant");
  if (options.thinking !== false || last === undefined) return;
  for (const [block, value] of last.blocks.entries()) {
    if (isThinking(value["type"]))
      yield {
        position: { message: last.index, block },
        message: "Thinking is off and the last assistant message holds some.",
      };
  }
}

function* unsigned({ all }: AnthropicChecked): Generator<Breach> {
  for (const { value, position } of blocksOfType(all, "thinking")) {
    if (typeof value["signature"] !== "string" || value["signature"] === "")
      yield { position, message: "A thinking block has no signature." };
  }
  for (const { value, position } of blocksOfType(all, "redacted_thinking")) {
    if (typeof value["data"] !== "string" || value["data"] === "")
      yield { position, message: "A redacted_thinking block has no data." };
  }
}

function isThinking(type: unknown): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

function images({ all, options }: AnthropicChecked): Iterable<Breach> {
  return refusedImages([...sentImages(all)], limitsFor(options.model));
}

/** Images of messages, and of results inside them. */
function* sentImages(all: AnthropicChecked["all"]): Generator<SentImage> {
  for (const message of all) {
    for (const [block, value] of message.blocks.entries()) {
      for (const inner of withResults(value)) {
        const { type, source } = fieldsOf(inner);
        const { type: kind, media_type, data } = fieldsOf(source);
        if (type === "image" && kind === "base64")
          yield { position: { message: message.index, block }, mediaType: media_type, data };
      }
    }
  }
}

function withResults(value: AnthropicBlock): readonly unknown[] {
  const { type, content } = value;
  return type === "tool_result" && Array.isArray(content) ? content : [value];
}

/** Models with a context larger than 200k tokens take 600 images. */
function limitsFor(model: string | undefined): ImageLimits {
  const isLarge = model !== undefined && (contextWindow(model) ?? 0) > 200_000;
  return isLarge ? { ...ANTHROPIC_IMAGES, count: 600 } : ANTHROPIC_IMAGES;
}

const RULES: readonly Rule<AnthropicChecked>[] = [
  { id: "A0", severity: "error", find: noMessage },
  ...ANTHROPIC_TOOL_RULES,
  ANTHROPIC_SERVER_TOOL_RULE,
  { id: "A10", severity: "error", find: emptyText },
  { id: "A11", severity: "error", find: emptyMessage },
  { id: "A12", severity: "error", find: wrongFirst },
  { id: "A13", severity: "warning", find: sameRole },
  { id: "A14", severity: "error", find: prefill },
  { id: "A15", severity: "error", find: trailingSpace },
  { id: "A17", severity: "error", find: loopWithoutThinking },
  { id: "A18", severity: "error", find: thinkingAtEnd },
  { id: "A19", severity: "error", find: unsigned },
  { id: "A24", severity: "error", find: images },
];
