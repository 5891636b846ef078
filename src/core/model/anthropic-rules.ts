// Checks a message list against the structural rules of the Anthropic Messages API: its shape, its calls and their results.
import { fieldsOf } from "../conversation/event.ts";
import { appendAll } from "../lists.ts";
import { ANTHROPIC_IMAGES, type ImageLimits, refusedImages, type SentImage } from "./image-rules.ts";
import { type Breach, type Rule, runRules, type Violation } from "./provider-rules.ts";
import { contextWindow } from "./token-meter.ts";

// Blocks of the Anthropic Messages API for calls which the provider runs itself.

const CALL = /^(?:server|mcp)_tool_use$/;
const RESULT = /^\w+_tool_result$/;

/** Whether a block is a call that the provider runs itself. */
export function isServerCall({ type }: AnthropicBlock): boolean {
  return CALL.test(String(type));
}

/** Whether a block is the result of such a server call. */
export function isServerResult({ type }: AnthropicBlock): boolean {
  return RESULT.test(String(type));
}

/** A content block in the provider's shape. */
export type AnthropicBlock = Readonly<Record<string, unknown>>;

/** A message in the provider's shape. */
export interface AnthropicMessage {
  readonly role: string;
  readonly content: string | readonly AnthropicBlock[];
}

/** What decides about rules that the shape alone does not. */
export interface AnthropicCheckOptions {
  /** Model the list is for; absent = an older one. */
  readonly model?: string;
  /** Whether extended thinking is on; absent = not known, its rules are not checked. */
  readonly thinking?: boolean;
  /** Whether the list is sent as it is (default true); false = a new request will follow, so its end is not checked. */
  readonly complete?: boolean;
}

/** One message with its position in the given list. */
interface PlacedMessage {
  /** 0-based. */
  readonly index: number;
  readonly role: string;
  /** True when the content was a string: its one text block has no position of its own. */
  readonly plain: boolean;
  readonly blocks: readonly AnthropicBlock[];
}

/** The input of every rule. */
interface AnthropicChecked {
  readonly all: readonly PlacedMessage[];
  /** Without system messages; calls and results are paired over it. */
  readonly dialogue: readonly PlacedMessage[];
  readonly options: AnthropicCheckOptions;
}

/** Prepares a list for the rules. Content that is neither a string nor a list counts as empty (rule A0 reports it). */
function toAnthropicChecked(messages: readonly AnthropicMessage[], options: AnthropicCheckOptions): AnthropicChecked {
  const all = messages.map((message, index) => place(message, index));
  return { all, dialogue: all.filter((message) => message.role !== "system"), options };
}

/** Yields the blocks of one type with their places. */
function* blocksOfType(messages: readonly PlacedMessage[], type: string): Generator<PlacedBlock> {
  for (const message of messages) {
    for (const [block, value] of message.blocks.entries()) {
      if (value["type"] === type) yield { value, position: { message: message.index, block } };
    }
  }
}

/** A block with its place in the given list. */
interface PlacedBlock {
  readonly value: AnthropicBlock;
  readonly position: { readonly message: number; readonly block: number };
}

function place({ role, content }: AnthropicMessage, index: number): PlacedMessage {
  if (typeof content === "string") {
    return { index, role, plain: true, blocks: content === "" ? [] : [{ type: "text", text: content }] };
  }
  return { index, role, plain: false, blocks: Array.isArray(content) ? content : [] };
}

// Rule A9 of the Anthropic Messages API: a call that the provider runs itself (web search, MCP servers of the API) and its result are in
// one message of the assistant, the call first.

function* halves({ dialogue, all }: AnthropicChecked): Generator<Breach> {
  for (const blocks of assistantRuns(dialogue)) {
    const open = new Map<unknown, PlacedBlock>();
    for (const placed of blocks) {
      const { value, position } = placed;
      if (isServerCall(value)) open.set(value["id"], placed);
      else if (isServerResult(value) && !open.delete(value["tool_use_id"])) {
        const message = `${String(value["type"])} ${idText(value["tool_use_id"])} answers no call of its message before it.`;
        yield { position, message };
      }
    }
    // A paused turn continues where it stopped.
    if (blocks.at(-1)?.position.message === all.length - 1) continue;
    for (const { value, position } of open.values())
      yield { position, message: `${String(value["type"])} ${idText(value["id"])} has no result in its message.` };
  }
}

/** The blocks of the assistant's messages; consecutive ones are merged, as the API does. */
function assistantRuns(dialogue: readonly PlacedMessage[]): readonly (readonly PlacedBlock[])[] {
  const runs: PlacedBlock[][] = [];
  for (const [at, { role, index, blocks }] of dialogue.entries()) {
    if (role !== "assistant") continue;
    const placed = blocks.map((value, block) => ({ value, position: { message: index, block } }));
    const open = dialogue[at - 1]?.role === "assistant" ? runs.at(-1) : undefined;
    if (open === undefined) runs.push(placed);
    else appendAll(open, placed);
  }
  return runs;
}

function idText(id: unknown): string {
  return JSON.stringify(id ?? null);
}

const ANTHROPIC_SERVER_TOOL_RULE: Rule<AnthropicChecked> = { id: "A9", severity: "error", find: halves };

// Rules A1–A8 of the Anthropic Messages API: the order of calls and their results. "Next" and "previous" ignore the system messages that
// newer models accept in between.

const TOOL_ID = /^[a-zA-Z0-9_-]{1,64}$/;
/** After a call only further calls may follow; blocks of server tools are as the API sent them. */
const NOT_AFTER_CALL: ReadonlySet<unknown> = new Set(["text", "thinking", "redacted_thinking", "image", "document"]);

function* unanswered({ dialogue }: AnthropicChecked): Generator<Breach> {
  for (const { call, answered, later } of answers(dialogue)) {
    if (!answered && !later)
      yield {
        position: call.position,
        message: `tool_use ${idOf(call.value)} has no tool_result in the next message.`,
      };
  }
}

function* unasked({ dialogue }: AnthropicChecked): Generator<Breach> {
  for (const [at, message] of dialogue.entries()) {
    const asked = new Set(callsOf(dialogue[at - 1]).map(({ value }) => value["id"]));
    for (const { value, position } of blocksOfType([message], "tool_result")) {
      if (!asked.has(value["tool_use_id"])) {
        yield { position, message: `tool_result ${idOf(value)} answers no tool_use of the message before it.` };
      }
    }
  }
}

function* scattered({ dialogue }: AnthropicChecked): Generator<Breach> {
  for (const { call, answered, later } of answers(dialogue)) {
    if (!answered && later)
      yield {
        position: call.position,
        message: `The result of tool_use ${idOf(call.value)} comes later than the next message.`,
      };
  }
}

function* resultsAfterContent({ dialogue }: AnthropicChecked): Generator<Breach> {
  for (const message of dialogue) {
    if (message.role !== "user") continue;
    const first = message.blocks.findIndex((block) => block["type"] !== "tool_result");
    for (const { value, position } of blocksOfType([message], "tool_result")) {
      if (first >= 0 && position.block > first)
        yield { position, message: `tool_result ${idOf(value)} comes after other content.` };
    }
  }
}

function* afterCalls({ dialogue }: AnthropicChecked): Generator<Breach> {
  for (const message of dialogue) {
    if (message.role !== "assistant") continue;
    const first = message.blocks.findIndex((block) => block["type"] === "tool_use");
    for (const [block, value] of message.blocks.entries()) {
      if (first >= 0 && block > first && NOT_AFTER_CALL.has(value["type"])) {
        yield {
          position: { message: message.index, block },
          message: `A ${String(value["type"])} block comes after a tool_use.`,
        };
      }
    }
  }
}

function* repeatedCalls({ dialogue }: AnthropicChecked): Generator<Breach> {
  yield* repeated(blocksOfType(dialogue, "tool_use"), "tool_use", "is used by an earlier call");
}

function* repeatedResults({ dialogue }: AnthropicChecked): Generator<Breach> {
  yield* repeated(blocksOfType(dialogue, "tool_result"), "tool_result", "has a result already");
}

function* badIds({ dialogue }: AnthropicChecked): Generator<Breach> {
  for (const type of ["tool_use", "tool_result"]) {
    for (const { value, position } of blocksOfType(dialogue, type)) {
      const id = value[type === "tool_use" ? "id" : "tool_use_id"];
      if (typeof id !== "string" || !TOOL_ID.test(id)) {
        yield { position, message: `The id ${idOf(value)} of a ${type} is not 1–64 letters, digits, "_" or "-".` };
      }
    }
  }
}

/** Rules A1–A8, in order. */
const ANTHROPIC_TOOL_RULES: readonly Rule<AnthropicChecked>[] = [
  { id: "A1", severity: "error", find: unanswered },
  { id: "A2", severity: "error", find: unasked },
  { id: "A3", severity: "error", find: scattered },
  { id: "A4", severity: "error", find: resultsAfterContent },
  { id: "A5", severity: "error", find: afterCalls },
  { id: "A6", severity: "error", find: repeatedCalls },
  { id: "A7", severity: "error", find: repeatedResults },
  { id: "A8", severity: "error", find: badIds },
];

interface Answer {
  readonly call: PlacedBlock;
  readonly answered: boolean;
  /** A result with that id comes later. */
  readonly later: boolean;
}

function* answers(dialogue: readonly PlacedMessage[]): Generator<Answer> {
  const lastResult = new Map<unknown, number>();
  for (const [at, message] of dialogue.entries()) for (const id of resultIds(message)) lastResult.set(id, at);
  for (const [at, message] of dialogue.entries()) {
    const next = new Set(resultIds(dialogue[at + 1]));
    for (const call of callsOf(message)) {
      const id = call.value["id"];
      yield { call, answered: next.has(id), later: (lastResult.get(id) ?? -1) > at };
    }
  }
}

function callsOf(message: PlacedMessage | undefined): PlacedBlock[] {
  return message?.role === "assistant" ? [...blocksOfType([message], "tool_use")] : [];
}

function resultIds(message: PlacedMessage | undefined): unknown[] {
  if (message?.role !== "user") return [];
  return message.blocks.filter((block) => block["type"] === "tool_result").map((block) => block["tool_use_id"]);
}

function* repeated(blocks: Iterable<PlacedBlock>, type: string, what: string): Generator<Breach> {
  const seen = new Set<unknown>();
  for (const { value, position } of blocks) {
    const id = value[type === "tool_use" ? "id" : "tool_use_id"];
    if (seen.has(id)) yield { position, message: `The id ${idOf(value)} ${what}.` };
    seen.add(id);
  }
}

function idOf(block: AnthropicBlock): string {
  return JSON.stringify(block["id"] ?? block["tool_use_id"] ?? null);
}

// Checks a message list against the structural rules of the Anthropic Messages API: each rule is a small function in a table, ids as in the
// rule book (A1 …; A0 = not a message). Anything that needs the model's own data is not checked.

/**
 * Finds what the Anthropic API would refuse (severity `error`) or what may harm (`warning`); empty = valid. Rules: A0–A15, A17 and A18 when
 * `thinking` is given, A19 as far as the shape shows it, A24 (images).
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

// Differences between generations of Claude models, as a table of version ranges, so that a new model is a row and no code. An unknown name
// counts as older than every row.

/** What newer models do differently. */
type ModelFeature =
  /** The list may contain messages of role `system`. */
  | "system_messages"
  /** The last message may not be the assistant's (no prefill). */
  | "no_prefill";

interface ModelRange {
  readonly feature: ModelFeature;
  /** Family in the model's name; `*` = any. */
  readonly family: string;
  /** First version that has it: major, minor. */
  readonly from: readonly [number, number];
}

/** Sources: requests of Claude Code 2.1.330 (system messages); error text "does not support assistant message prefill". */
const RANGES: readonly ModelRange[] = [
  { feature: "system_messages", family: "opus", from: [4, 8] },
  { feature: "system_messages", family: "*", from: [5, 0] },
  { feature: "no_prefill", family: "opus", from: [4, 6] },
  { feature: "no_prefill", family: "sonnet", from: [4, 6] },
  { feature: "no_prefill", family: "*", from: [5, 0] },
];

/** `claude-opus-4-8`, `claude-sonnet-4-5-20250929`, `us.anthropic.claude-opus-4-6-v1:0`; a date is no minor version. */
const NAME = /claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/;

/** Returns whether a model has a feature; false without a model. */
export function hasModelFeature(model: string | undefined, feature: ModelFeature): boolean {
  const found = NAME.exec(model ?? "");
  if (found === null) return false;
  const [, family, major, minor = "0"] = found;
  return RANGES.some(
    (range) =>
      range.feature === feature &&
      (range.family === "*" || range.family === family) &&
      (Number(major) > range.from[0] || (Number(major) === range.from[0] && Number(minor) >= range.from[1])),
  );
}
