// Checks an input list against the structural rules of OpenAI's Responses API.
import { misnamedImages, OPENAI_IMAGES, refusedImages, type SentImage, sentInUrl } from "./image-rules.ts";
import { asObject, type OpenAiObject } from "./openai-chat-rules.ts";
import { type Breach, type Rule, runRules, type Violation } from "./provider-rules.ts";

// An input list in the shape of OpenAI's Responses API, prepared once for all rules: calls, outputs, and what a model made. Any value is
// accepted; what is no item counts as an empty one (rule R0 reports it).

/** What decides about rules that the shape alone does not. */
export interface OpenAiResponsesCheckOptions {
  /** The response that the list continues; outputs may then answer calls that only the server has (R3). */
  readonly previous_response_id?: string;
  /** Ids of messages and calls known to be made with reasoning (R5); absent = not known. */
  readonly reasoned?: ReadonlySet<string>;
}

/** One item with its position in the given list. */
interface ResponsesItem {
  /** 0-based. */
  readonly index: number;
  /** `message` when only a role is given. */
  readonly type: unknown;
  readonly value: OpenAiObject;
}

/** The input of every rule. */
interface OpenAiResponsesInput {
  readonly all: readonly ResponsesItem[];
  readonly options: OpenAiResponsesCheckOptions;
}

/** Output types that answer a call, by the call's type; codex answers local shell calls with the output of a function. */
const OUTPUTS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ["function_call", ["function_call_output"]],
  ["custom_tool_call", ["custom_tool_call_output"]],
  ["local_shell_call", ["local_shell_call_output", "function_call_output"]],
  ["shell_call", ["shell_call_output"]],
  ["apply_patch_call", ["apply_patch_call_output"]],
  ["computer_call", ["computer_call_output"]],
]);
const OUTPUT_TYPES: ReadonlySet<unknown> = new Set([...OUTPUTS.values()].flat());

/** Prepares a list for the rules. */
function toOpenAiResponsesInput(items: readonly unknown[], options: OpenAiResponsesCheckOptions): OpenAiResponsesInput {
  const all = items.map((item, index): ResponsesItem => {
    const value = asObject(item);
    const type = value["type"] ?? (value["role"] === undefined ? undefined : "message");
    return { index, type, value };
  });
  return { all, options };
}

/** Whether it is a call that needs an output in the list. */
function isCall({ type }: ResponsesItem): boolean {
  return OUTPUTS.has(type);
}

function isOutput({ type }: ResponsesItem): boolean {
  return OUTPUT_TYPES.has(type);
}

/** Whether an output is of a kind that answers a call of this kind; ids are not compared. */
function fitsCall(output: ResponsesItem, call: ResponsesItem): boolean {
  return OUTPUTS.get(call.type)?.includes(String(output.type)) === true;
}

/** Whether a model made it: reasoning, its messages, its calls of any kind. */
function isMadeByModel({ type, value }: ResponsesItem): boolean {
  if (type === "message") return value["role"] === "assistant";
  return type === "reasoning" || (typeof type === "string" && type.endsWith("_call"));
}

function hasId({ value }: ResponsesItem): boolean {
  return typeof value["id"] === "string" && value["id"] !== "";
}

// Rule R0 of OpenAI's Responses API: the shape of messages, calls and outputs. Items of other kinds are the API's own: they only need a
// type.

const INPUT: ReadonlySet<unknown> = new Set(["input_text", "input_image", "input_file", "input_audio"]);
/** Part types by role; unlisted roles are unknown. */
const PARTS: ReadonlyMap<unknown, ReadonlySet<unknown>> = new Map([
  ["user", INPUT],
  ["system", INPUT],
  ["developer", INPUT],
  ["assistant", new Set(["output_text", "refusal"])],
]);
const TEXT_PARTS: ReadonlySet<unknown> = new Set(["input_text", "output_text"]);
const NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const MAX_ID = 64;
/** Kinds of calls that have a name, with the text field that holds the input. */
const ASKED: ReadonlyMap<unknown, string> = new Map([
  ["function_call", "arguments"],
  ["custom_tool_call", "input"],
]);

function* badShape({ all }: OpenAiResponsesInput): Generator<Breach> {
  if (all.length === 0) yield { position: { message: 0 }, message: "The list is empty." };
  for (const item of all) {
    if (typeof item.type !== "string") yield breachAt(item, "An item has neither a type nor a role.");
    else if (item.type === "message") yield* badMessage(item);
    else if (isCall(item) || isOutput(item)) yield* badCall(item);
  }
}

function* badMessage(item: ResponsesItem): Generator<Breach> {
  const { role, content } = item.value;
  const types = PARTS.get(role);
  if (types === undefined) {
    yield breachAt(
      item,
      `The role is ${JSON.stringify(role ?? null)}; expected one of ${[...PARTS.keys()].join(", ")}.`,
    );
    return;
  }
  if (typeof content === "string") return;
  if (!Array.isArray(content)) {
    yield breachAt(item, "The content is neither a text nor a list of parts.");
    return;
  }
  yield* badParts(item, content, types);
}

function* badParts(item: ResponsesItem, parts: readonly unknown[], types: ReadonlySet<unknown>): Generator<Breach> {
  for (const [block, part] of parts.entries()) {
    const { type, text } = asObject(part);
    if (!types.has(type)) {
      const expected = [...types].join(", ");
      yield breachAt(item, `A part is of type ${JSON.stringify(type ?? null)}; expected one of ${expected}.`, block);
    } else if (TEXT_PARTS.has(type) && typeof text !== "string")
      yield breachAt(item, "A text part has no text.", block);
  }
}

function* badCall(item: ResponsesItem): Generator<Breach> {
  const { call_id, name, output } = item.value;
  if (typeof call_id !== "string" || call_id === "" || call_id.length > MAX_ID)
    yield breachAt(item, `The call_id ${JSON.stringify(call_id ?? null)} is not a text of 1–${MAX_ID} characters.`);
  const asked = ASKED.get(item.type);
  if (asked !== undefined) {
    if (typeof name !== "string" || !NAME.test(name))
      yield breachAt(item, `The tool name ${JSON.stringify(name ?? null)} is not 1–128 letters, digits, "_" or "-".`);
    if (typeof item.value[asked] !== "string")
      yield breachAt(item, `The ${asked} of a ${String(item.type)} are not a text.`);
  }
  if (item.type !== "function_call_output" && item.type !== "custom_tool_call_output") return;
  if (Array.isArray(output)) yield* badParts(item, output, INPUT);
  else if (typeof output !== "string") yield breachAt(item, "The output is neither a text nor a list of parts.");
}

const OPENAI_RESPONSES_SHAPE_RULES: readonly Rule<OpenAiResponsesInput>[] = [
  { id: "R0", severity: "error", find: badShape },
];

function breachAt({ index }: ResponsesItem, message: string, block?: number): Breach {
  return { position: { message: index, block }, message };
}

// Checks an input list against the structural rules of OpenAI's Responses API: each rule is a small function in a table, ids as in the rule
// book (R1 …; R0 = the schema refuses it). R7, R9 and R10 say how to render; a list alone does not show them.

/**
 * Finds what the API would refuse (severity `error`) or what may harm (`warning`); empty = valid. Rules: R0–R2 (with the
 * exception R3), R4 and R5 where item ids are sent, R6, R8, R11 (images). Takes any values; `message` of a position counts items.
 */
export function checkOpenAiResponses(
  items: readonly unknown[],
  options: OpenAiResponsesCheckOptions = {},
): readonly Violation[] {
  return runRules("openai-responses", RULES, toOpenAiResponsesInput(items, options));
}

function* unanswered({ all }: OpenAiResponsesInput): Generator<Breach> {
  const outputs = byCallId(all.filter(isOutput));
  for (const call of all.filter(isCall)) {
    const found = outputs
      .get(call.value["call_id"])
      ?.some((output) => output.index > call.index && fitsCall(output, call));
    if (found !== true) yield at(call, `The ${String(call.type)} ${idOf(call)} has no output after it.`);
  }
}

function* unasked({ all, options }: OpenAiResponsesInput): Generator<Breach> {
  if (options.previous_response_id !== undefined) return;
  const calls = byCallId(all.filter(isCall));
  for (const output of all.filter(isOutput)) {
    const found = calls
      .get(output.value["call_id"])
      ?.some((call) => call.index < output.index && fitsCall(output, call));
    if (found !== true) yield at(output, `The ${String(output.type)} ${idOf(output)} answers no call before it.`);
  }
}

function* repeatedCalls({ all }: OpenAiResponsesInput): Generator<Breach> {
  yield* repeated(all.filter(isCall), "is used by an earlier call");
}

function* repeatedOutputs({ all }: OpenAiResponsesInput): Generator<Breach> {
  yield* repeated(all.filter(isOutput), "has an output already");
}

function* reasoningAlone({ all }: OpenAiResponsesInput): Generator<Breach> {
  for (const item of all) {
    if (item.type !== "reasoning" || !hasId(item)) continue;
    const next = all[item.index + 1];
    if (next === undefined || !isMadeByModel(next))
      yield at(item, `The reasoning ${JSON.stringify(item.value["id"])} is not followed by what it led to.`);
  }
}

function* withoutReasoning({ all, options }: OpenAiResponsesInput): Generator<Breach> {
  for (const { item, reasoning } of madeWith(all)) {
    if (options.reasoned?.has(String(item.value["id"])) === true && !reasoning.some(hasId))
      yield at(item, `The ${String(item.type)} ${JSON.stringify(item.value["id"])} was sent without its reasoning.`);
  }
}

function* mixedIds({ all }: OpenAiResponsesInput): Generator<Breach> {
  for (const { item, reasoning } of madeWith(all)) {
    if (reasoning.length > 0 && !reasoning.some(hasId))
      yield at(item, `The ${String(item.type)} has an id, the reasoning before it has none.`);
  }
}

function* noSummary({ all }: OpenAiResponsesInput): Generator<Breach> {
  for (const item of all) {
    if (item.type === "reasoning" && !Array.isArray(item.value["summary"]))
      yield at(item, "A reasoning item has no summary; expected a list, which may be empty.");
  }
}

function* emptyCompaction({ all }: OpenAiResponsesInput): Generator<Breach> {
  for (const item of compactions(all)) {
    const { encrypted_content } = item.value;
    if (typeof encrypted_content !== "string" || encrypted_content === "")
      yield at(item, "A compaction item has no encrypted_content.");
  }
}

function* lateCompaction({ all }: OpenAiResponsesInput): Generator<Breach> {
  const first = all.find((item) => isMadeByModel(item) || isOutput(item));
  for (const item of compactions(all)) {
    if (first !== undefined && item.index > first.index)
      yield at(item, "A compaction item comes after model output; it belongs before it.");
  }
}

/** Images of messages, and of outputs of calls. */
function* sentImages({ all }: OpenAiResponsesInput): Generator<SentImage> {
  for (const { index, value } of all) {
    const parts = [value["content"], value["output"]].find((list) => Array.isArray(list)) ?? [];
    for (const [block, part] of (parts as readonly unknown[]).entries()) {
      const { type, image_url } = asObject(part);
      if (type === "input_image") yield* sentInUrl(image_url, { message: index, block });
    }
    // A screenshot returned by a computer call is one part, not a list.
    const { type, image_url } = asObject(value["output"]);
    if (type === "input_image" || type === "computer_screenshot") yield* sentInUrl(image_url, { message: index });
  }
}

const RULES: readonly Rule<OpenAiResponsesInput>[] = [
  ...OPENAI_RESPONSES_SHAPE_RULES,
  { id: "R1", severity: "error", find: unanswered },
  { id: "R1", severity: "warning", find: repeatedCalls },
  { id: "R2", severity: "error", find: unasked },
  { id: "R2", severity: "warning", find: repeatedOutputs },
  { id: "R4", severity: "error", find: reasoningAlone },
  { id: "R5", severity: "error", find: withoutReasoning },
  { id: "R5", severity: "warning", find: mixedIds },
  { id: "R6", severity: "error", find: noSummary },
  { id: "R8", severity: "error", find: emptyCompaction },
  { id: "R8", severity: "warning", find: lateCompaction },
  { id: "R11", severity: "error", find: (input) => refusedImages([...sentImages(input)], OPENAI_IMAGES) },
  { id: "R11", severity: "warning", find: (input) => misnamedImages([...sentImages(input)], OPENAI_IMAGES) },
];

/** Messages and calls that carry an id, each with the reasoning before it since another role spoke. */
function* madeWith(
  all: readonly ResponsesItem[],
): Generator<{ item: ResponsesItem; reasoning: readonly ResponsesItem[] }> {
  let reasoning: ResponsesItem[] = [];
  for (const item of all) {
    if (!isMadeByModel(item)) reasoning = [];
    else if (item.type === "reasoning") reasoning.push(item);
    else if (hasId(item)) yield { item, reasoning };
  }
}

function byCallId(items: readonly ResponsesItem[]): ReadonlyMap<unknown, readonly ResponsesItem[]> {
  const lists = new Map<unknown, ResponsesItem[]>();
  for (const item of items) {
    const list = lists.get(item.value["call_id"]);
    if (list === undefined) lists.set(item.value["call_id"], [item]);
    else list.push(item);
  }
  return lists;
}

function* repeated(items: readonly ResponsesItem[], what: string): Generator<Breach> {
  const seen = new Set<unknown>();
  for (const item of items) {
    const id = item.value["call_id"];
    if (seen.has(id)) yield at(item, `The call_id ${idOf(item)} ${what}.`);
    seen.add(id);
  }
}

function compactions(all: readonly ResponsesItem[]): readonly ResponsesItem[] {
  return all.filter(({ type }) => type === "compaction" || type === "compaction_summary");
}

function idOf({ value }: ResponsesItem): string {
  return JSON.stringify(value["call_id"] ?? null);
}

function at({ index }: ResponsesItem, message: string): Breach {
  return { position: { message: index }, message };
}
