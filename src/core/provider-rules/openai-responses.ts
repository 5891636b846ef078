// Checks an input list against the structural rules of OpenAI's Responses API: each rule is a small function in a table, ids
// as in the rule book (R1 …; R0 = the schema refuses it). R7, R9 and R10 say how to render, a list alone does not show them.
import { misnamedImages, OPENAI_IMAGES, refusedImages, type SentImage, sentInUrl } from "./image-rules.ts";
import { asObject } from "./openai-chat-messages.ts";
import {
  fitsCall,
  hasId,
  isCall,
  isMadeByModel,
  isOutput,
  type OpenAiResponsesCheckOptions,
  type OpenAiResponsesInput,
  type ResponsesItem,
  toOpenAiResponsesInput,
} from "./openai-responses-items.ts";
import { OPENAI_RESPONSES_SHAPE_RULES } from "./openai-responses-shape.ts";
import { type Breach, type Rule, runRules, type Violation } from "./rule.ts";

export type { OpenAiResponsesCheckOptions } from "./openai-responses-items.ts";

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

/** Images of messages, and of what calls gave. */
function* sentImages({ all }: OpenAiResponsesInput): Generator<SentImage> {
  for (const { index, value } of all) {
    const parts = [value["content"], value["output"]].find((list) => Array.isArray(list)) ?? [];
    for (const [block, part] of (parts as readonly unknown[]).entries()) {
      const { type, image_url } = asObject(part);
      if (type === "input_image") yield* sentInUrl(image_url, { message: index, block });
    }
    // A screenshot that a computer call gave is one part, not a list.
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

/** Messages and calls that carry an id, each with the reasoning before it since somebody else spoke. */
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
