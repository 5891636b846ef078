// Checks a message list against the structural rules of OpenAI Chat Completions.
import { isFields } from "../conversation/event.ts";
import { misnamedImages, OPENAI_IMAGES, refusedImages, type SentImage, sentInUrl } from "./image-rules.ts";
import { type Breach, type Rule, runRules, type Violation } from "./provider-rules.ts";

// A message list in the shape of OpenAI Chat Completions, prepared once for all rules: calls and results with their places. Any value is
// accepted; what is no message counts as an empty one (rule C0 reports it).

/** A JSON object in the provider's shape. */
export type OpenAiObject = Readonly<Record<string, unknown>>;

/** What decides about rules that the shape alone does not. */
export interface OpenAiChatCheckOptions {
  /** Whether the list is for a server that is only compatible with OpenAI's: C7 and stricter forms are checked (default false). */
  readonly compatible?: boolean;
  /** Whether the server accepts reasoning (default false: C8 warns of it). */
  readonly reasoning?: boolean;
  /** Whether the list is sent as it is (default true); false = a new request will follow, so its end is not checked. */
  readonly complete?: boolean;
}

/** One message with its position in the given list. */
interface ChatMessage {
  /** 0-based. */
  readonly index: number;
  readonly role: unknown;
  readonly value: OpenAiObject;
  /** Calls of an assistant message, in order; empty for others. `block` of a position counts them, 0-based. */
  readonly calls: readonly OpenAiObject[];
}

/** The input of every rule. */
interface OpenAiChatInput {
  readonly all: readonly ChatMessage[];
  readonly options: OpenAiChatCheckOptions;
}

/** Prepares a list for the rules. */
function toOpenAiChatInput(messages: readonly unknown[], options: OpenAiChatCheckOptions): OpenAiChatInput {
  return { all: messages.map(place), options };
}

/** A value as an object; an empty one when it is none. */
export function asObject(value: unknown): OpenAiObject {
  return isFields(value) ? value : {};
}

function place(message: unknown, index: number): ChatMessage {
  const value = asObject(message);
  const calls = value["role"] === "assistant" && Array.isArray(value["tool_calls"]) ? value["tool_calls"] : [];
  return { index, role: value["role"], value, calls: calls.map(asObject) };
}

/** Part types by role; unlisted roles are unknown. */
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
      yield breachAt(message, `The role is ${JSON.stringify(message.role ?? null)}; expected one of ${expected}.`);
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
    // Rule C5 checks what an assistant message needs instead.
    if (message.role !== "assistant")
      yield breachAt(message, `A message of the ${String(message.role)} has no content.`);
    return;
  }
  if (!Array.isArray(content)) {
    yield breachAt(message, "The content is neither a text nor a list of parts.");
    return;
  }
  if (content.length === 0 && message.role !== "assistant") yield breachAt(message, "The content is an empty list.");
  for (const [block, part] of content.entries()) {
    const { type } = asObject(part);
    if (PARTS.get(message.role)?.has(type) === true) continue;
    const found = JSON.stringify(type ?? null);
    yield breachAt(message, `A part of type ${found} is in a message of the ${String(message.role)}.`, block);
  }
}

function* badCalls(message: ChatMessage): Generator<Breach> {
  const { value, role, calls } = message;
  if (role === "tool" && !isId(value["tool_call_id"])) yield breachAt(message, idProblem(value["tool_call_id"]));
  if (role !== "assistant" || value["tool_calls"] === undefined || value["tool_calls"] === null) return;
  if (calls.length === 0) yield breachAt(message, "tool_calls is not a list of calls.");
  for (const [block, call] of calls.entries()) {
    if (!isId(call["id"])) yield breachAt(message, idProblem(call["id"]), block);
    const { name } = functionOf(call);
    if (typeof name !== "string" || !NAME.test(name)) {
      const found = JSON.stringify(name ?? null);
      yield breachAt(message, `The tool name ${found} is not 1–64 letters, digits, "_" or "-".`, block);
    }
  }
}

function* longIds({ all }: OpenAiChatInput): Generator<Breach> {
  for (const message of all) {
    for (const [block, { id }] of message.calls.entries()) {
      if (isId(id) && id.length > MAX_SAFE_ID)
        yield breachAt(message, `The id ${JSON.stringify(id)} is longer than ${MAX_SAFE_ID} characters.`, block);
    }
  }
}

/** Rule C0: what the schema refuses, and ids that only some deployments refuse. */
const OPENAI_CHAT_SHAPE_RULES: readonly Rule<OpenAiChatInput>[] = [
  { id: "C0", severity: "error", find: badShape },
  { id: "C0", severity: "warning", find: longIds },
];

/** The input of a call: name and arguments of a function, name and input of a custom tool. */
function functionOf(call: OpenAiObject): OpenAiObject {
  return asObject(call["type"] === "custom" ? call["custom"] : call["function"]);
}

function isId(id: unknown): id is string {
  return typeof id === "string" && id.length > 0 && id.length <= MAX_ID;
}

function idProblem(id: unknown): string {
  return `The id ${JSON.stringify(id ?? null)} of a call is not a text of 1–${MAX_ID} characters.`;
}

function breachAt({ index }: ChatMessage, message: string, block?: number): Breach {
  return { position: { message: index, block }, message };
}

/** The calls of a message that is no tool message, with the tool messages that follow it directly. */
interface Batch {
  /** Position of the message in the list, 0-based; -1 when the list begins with tool messages. */
  readonly index: number;
  readonly calls: readonly OpenAiObject[];
  readonly results: readonly ChatMessage[];
}

function* unanswered({ all }: OpenAiChatInput): Generator<Breach> {
  for (const { position, id, isLater } of missing(all)) {
    if (!isLater) yield { position, message: `The call ${id} has no tool message.` };
  }
}

function* unasked({ all }: OpenAiChatInput): Generator<Breach> {
  for (const { calls, results } of batches(all)) {
    const asked = new Set(calls.map((call) => call["id"]));
    for (const { index, value } of results) {
      const id = value["tool_call_id"];
      if (!asked.has(id))
        yield {
          position: { message: index },
          message: `The tool message of ${quote(id)} answers no call of the message before it.`,
        };
    }
  }
}

function* scattered({ all }: OpenAiChatInput): Generator<Breach> {
  for (const { position, id, isLater } of missing(all)) {
    if (isLater) yield { position, message: `Another message is between the call ${id} and its tool message.` };
  }
}

function* repeatedInBatch({ all }: OpenAiChatInput): Generator<Breach> {
  for (const { index: message, calls, results } of batches(all)) {
    const called = new Set<unknown>();
    for (const [block, { id }] of calls.entries()) {
      if (called.has(id))
        yield { position: { message, block }, message: `Two calls of one message have the id ${quote(id)}.` };
      called.add(id);
    }
    const answered = new Set<unknown>();
    for (const { index, value } of results) {
      const id = value["tool_call_id"];
      if (answered.has(id))
        yield { position: { message: index }, message: `The call ${quote(id)} has a result already.` };
      answered.add(id);
    }
  }
}

function* repeatedInList({ all }: OpenAiChatInput): Generator<Breach> {
  const earlier = new Set<unknown>();
  for (const { index, calls } of all) {
    for (const [block, { id }] of calls.entries()) {
      if (earlier.has(id))
        yield { position: { message: index, block }, message: `The id ${quote(id)} is used by an earlier message.` };
    }
    for (const { id } of calls) earlier.add(id);
  }
}

function* noText({ all }: OpenAiChatInput): Generator<Breach> {
  for (const { position, call } of argumentsOf(all)) {
    if (typeof call["arguments"] !== "string")
      yield { position, message: "The arguments of a call are not JSON text." };
  }
}

function* noJson({ all }: OpenAiChatInput): Generator<Breach> {
  for (const { position, call } of argumentsOf(all)) {
    const text = call["arguments"];
    if (typeof text === "string" && !isJson(text))
      yield { position, message: "The arguments of a call are a text, but not JSON." };
  }
}

/** Rules C1–C4 and C6, in order. */
const OPENAI_CHAT_TOOL_RULES: readonly Rule<OpenAiChatInput>[] = [
  { id: "C1", severity: "error", find: unanswered },
  { id: "C2", severity: "error", find: unasked },
  { id: "C3", severity: "error", find: scattered },
  { id: "C4", severity: "error", find: repeatedInBatch },
  { id: "C4", severity: "warning", find: repeatedInList },
  { id: "C6", severity: "error", find: noText },
  { id: "C6", severity: "warning", find: noJson },
];

function batches(all: readonly ChatMessage[]): readonly Batch[] {
  let results: ChatMessage[] = [];
  const list: Batch[] = [{ index: -1, calls: [], results }];
  for (const message of all) {
    if (message.role === "tool") results.push(message);
    else {
      results = [];
      list.push({ index: message.index, calls: message.calls, results });
    }
  }
  return list;
}

interface Missing {
  readonly position: Breach["position"];
  readonly id: string;
  /** A tool message with that id comes later. */
  readonly isLater: boolean;
}

/** Calls that none of the tool messages directly after them answers. */
function* missing(all: readonly ChatMessage[]): Generator<Missing> {
  const last = new Map<unknown, number>();
  for (const { index, role, value } of all) if (role === "tool") last.set(value["tool_call_id"], index);
  for (const { index: message, calls, results } of batches(all)) {
    const answered = new Set(results.map(({ value }) => value["tool_call_id"]));
    for (const [block, { id }] of calls.entries()) {
      if (answered.has(id)) continue;
      yield { position: { message, block }, id: quote(id), isLater: (last.get(id) ?? -1) > message };
    }
  }
}

function* argumentsOf(all: readonly ChatMessage[]): Generator<{ position: Breach["position"]; call: OpenAiObject }> {
  for (const { index, calls } of all) {
    for (const [block, call] of calls.entries()) {
      if (call["type"] !== "custom") yield { position: { message: index, block }, call: functionOf(call) };
    }
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function quote(id: unknown): string {
  return JSON.stringify(id ?? null);
}

// Checks a message list against the structural rules of OpenAI Chat Completions: each rule is a small function in a table, ids as in the
// rule book (C1 …; C0 = the schema refuses it). C9 is about trimming functions, not about a list.

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
      yield at(message, 'The content of a message with calls is null; some servers want "".');
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
