// Rule R0 of OpenAI's Responses API: the shape of messages, calls and outputs. Items of other kinds are the API's own and are
// passed on; only that they have a type is asked.
import { defined } from "../defined.ts";
import { asObject } from "./openai-chat-messages.ts";
import { isCall, isOutput, type OpenAiResponsesInput, type ResponsesItem } from "./openai-responses-items.ts";
import type { Breach, Rule } from "./rule.ts";

const INPUT: ReadonlySet<unknown> = new Set(["input_text", "input_image", "input_file", "input_audio"]);
/** Part types by role; roles that are not here are unknown. */
const PARTS: ReadonlyMap<unknown, ReadonlySet<unknown>> = new Map([
  ["user", INPUT],
  ["system", INPUT],
  ["developer", INPUT],
  ["assistant", new Set(["output_text", "refusal"])],
]);
const TEXT_PARTS: ReadonlySet<unknown> = new Set(["input_text", "output_text"]);
const NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const MAX_ID = 64;
/** Kinds of calls that have a name, with the field that holds what is asked for, a text. */
const ASKED: ReadonlyMap<unknown, string> = new Map([
  ["function_call", "arguments"],
  ["custom_tool_call", "input"],
]);

function* badShape({ all }: OpenAiResponsesInput): Generator<Breach> {
  if (all.length === 0) yield { position: { message: 0 }, message: "The list is empty." };
  for (const item of all) {
    if (typeof item.type !== "string") yield at(item, "An item has neither a type nor a role.");
    else if (item.type === "message") yield* badMessage(item);
    else if (isCall(item) || isOutput(item)) yield* badCall(item);
  }
}

function* badMessage(item: ResponsesItem): Generator<Breach> {
  const { role, content } = item.value;
  const types = PARTS.get(role);
  if (types === undefined) {
    yield at(item, `The role is ${JSON.stringify(role ?? null)}; expected one of ${[...PARTS.keys()].join(", ")}.`);
    return;
  }
  if (typeof content === "string") return;
  if (!Array.isArray(content)) {
    yield at(item, "The content is neither a text nor a list of parts.");
    return;
  }
  yield* badParts(item, content, types);
}

function* badParts(item: ResponsesItem, parts: readonly unknown[], types: ReadonlySet<unknown>): Generator<Breach> {
  for (const [block, part] of parts.entries()) {
    const { type, text } = asObject(part);
    if (!types.has(type)) {
      const expected = [...types].join(", ");
      yield at(item, `A part is of type ${JSON.stringify(type ?? null)}; expected one of ${expected}.`, block);
    } else if (TEXT_PARTS.has(type) && typeof text !== "string") yield at(item, "A text part has no text.", block);
  }
}

function* badCall(item: ResponsesItem): Generator<Breach> {
  const { call_id, name, output } = item.value;
  if (typeof call_id !== "string" || call_id === "" || call_id.length > MAX_ID)
    yield at(item, `The call_id ${JSON.stringify(call_id ?? null)} is not a text of 1–${MAX_ID} characters.`);
  const asked = ASKED.get(item.type);
  if (asked !== undefined) {
    if (typeof name !== "string" || !NAME.test(name))
      yield at(item, `The tool name ${JSON.stringify(name ?? null)} is not 1–128 letters, digits, "_" or "-".`);
    if (typeof item.value[asked] !== "string") yield at(item, `The ${asked} of a ${String(item.type)} are not a text.`);
  }
  if (item.type !== "function_call_output" && item.type !== "custom_tool_call_output") return;
  if (Array.isArray(output)) yield* badParts(item, output, INPUT);
  else if (typeof output !== "string") yield at(item, "The output is neither a text nor a list of parts.");
}

/** Rule R0. */
export const OPENAI_RESPONSES_SHAPE_RULES: readonly Rule<OpenAiResponsesInput>[] = [
  { id: "R0", severity: "error", find: badShape },
];

function at({ index }: ResponsesItem, message: string, block?: number): Breach {
  return { position: { message: index, ...defined({ block }) }, message };
}
