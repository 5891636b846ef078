// Rule C0 of OpenAI Chat Completions: the shape of messages, their parts and calls, as the API's schema wants it.
import { defined } from "../defined.ts";
import { asObject, type ChatMessage, type OpenAiChatInput, type OpenAiObject } from "./openai-chat-messages.ts";
import type { Breach, Rule } from "./rule.ts";

/** Part types by role; roles that are not here are unknown. */
const PARTS: ReadonlyMap<unknown, ReadonlySet<unknown>> = new Map([
  ["system", new Set(["text"])],
  ["developer", new Set(["text"])],
  ["user", new Set(["text", "image_url", "input_audio", "file"])],
  ["assistant", new Set(["text", "refusal"])],
  ["tool", new Set(["text"])],
  ["function", new Set(["text"])],
]);
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const MAX_ID = 64;
/** Some deployments refuse longer ids ("string too long. Expected a string with maximum length 40"). */
const MAX_SAFE_ID = 40;

function* badShape({ all }: OpenAiChatInput): Generator<Breach> {
  if (all.length === 0) yield { position: { message: 0 }, message: "The list is empty." };
  for (const message of all) {
    if (!PARTS.has(message.role)) {
      const expected = [...PARTS.keys()].join(", ");
      yield at(message, `The role is ${JSON.stringify(message.role ?? null)}; expected one of ${expected}.`);
    } else {
      yield* badContent(message);
      yield* badCalls(message);
    }
  }
}

function* badContent(message: ChatMessage): Generator<Breach> {
  const { content } = message.value;
  if (typeof content === "string") return;
  if (content === null || content === undefined) {
    // What an assistant message needs instead is rule C5.
    if (message.role !== "assistant") yield at(message, `A message of the ${String(message.role)} has no content.`);
    return;
  }
  if (!Array.isArray(content)) {
    yield at(message, "The content is neither a text nor a list of parts.");
    return;
  }
  if (content.length === 0 && message.role !== "assistant") yield at(message, "The content is an empty list.");
  for (const [block, part] of content.entries()) {
    const { type } = asObject(part);
    if (PARTS.get(message.role)?.has(type) === true) continue;
    const found = JSON.stringify(type ?? null);
    yield at(message, `A part of type ${found} is in a message of the ${String(message.role)}.`, block);
  }
}

function* badCalls(message: ChatMessage): Generator<Breach> {
  const { value, role, calls } = message;
  if (role === "tool" && !isId(value["tool_call_id"])) yield at(message, idProblem(value["tool_call_id"]));
  if (role !== "assistant" || value["tool_calls"] === undefined || value["tool_calls"] === null) return;
  if (calls.length === 0) yield at(message, "tool_calls is not a list of calls.");
  for (const [block, call] of calls.entries()) {
    if (!isId(call["id"])) yield at(message, idProblem(call["id"]), block);
    const { name } = functionOf(call);
    if (typeof name !== "string" || !NAME.test(name)) {
      const found = JSON.stringify(name ?? null);
      yield at(message, `The tool name ${found} is not 1–64 letters, digits, "_" or "-".`, block);
    }
  }
}

function* longIds({ all }: OpenAiChatInput): Generator<Breach> {
  for (const message of all) {
    for (const [block, { id }] of message.calls.entries()) {
      if (isId(id) && id.length > MAX_SAFE_ID)
        yield at(message, `The id ${JSON.stringify(id)} is longer than ${MAX_SAFE_ID} characters.`, block);
    }
  }
}

/** Rule C0: what the schema refuses, and ids that only some deployments refuse. */
export const OPENAI_CHAT_SHAPE_RULES: readonly Rule<OpenAiChatInput>[] = [
  { id: "C0", severity: "error", find: badShape },
  { id: "C0", severity: "warning", find: longIds },
];

/** What a call asks for: name and arguments of a function, name and input of a custom tool. */
export function functionOf(call: OpenAiObject): OpenAiObject {
  return asObject(call["type"] === "custom" ? call["custom"] : call["function"]);
}

function isId(id: unknown): id is string {
  return typeof id === "string" && id.length > 0 && id.length <= MAX_ID;
}

function idProblem(id: unknown): string {
  return `The id ${JSON.stringify(id ?? null)} of a call is not a text of 1–${MAX_ID} characters.`;
}

function at({ index }: ChatMessage, message: string, block?: number): Breach {
  return { position: { message: index, ...defined({ block }) }, message };
}
