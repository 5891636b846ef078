// An input list in the shape of OpenAI's Responses API, prepared once for all rules: calls, outputs, and what a model made.
// Anything may be given; what is no item counts as an empty one (rule R0 names it).
import { asObject, type OpenAiObject } from "./openai-chat-messages.ts";

/** What decides about rules that are not in the shape alone. */
export interface OpenAiResponsesCheckOptions {
  /** The response that the list continues; outputs may then answer calls that only the server has (R3). */
  readonly previous_response_id?: string;
  /** Ids of messages and calls known to be made with reasoning (R5); absent = not known. */
  readonly reasoned?: ReadonlySet<string>;
}

/** One item with its position in the given list. */
export interface ResponsesItem {
  /** 0-based. */
  readonly index: number;
  /** `message` when only a role is given. */
  readonly type: unknown;
  readonly value: OpenAiObject;
}

/** The input of every rule. */
export interface OpenAiResponsesInput {
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
export function toOpenAiResponsesInput(
  items: readonly unknown[],
  options: OpenAiResponsesCheckOptions,
): OpenAiResponsesInput {
  const all = items.map((item, index): ResponsesItem => {
    const value = asObject(item);
    const type = value["type"] ?? (value["role"] === undefined ? undefined : "message");
    return { index, type, value };
  });
  return { all, options };
}

/** Whether it is a call that wants an output in the list. */
export function isCall({ type }: ResponsesItem): boolean {
  return OUTPUTS.has(type);
}

export function isOutput({ type }: ResponsesItem): boolean {
  return OUTPUT_TYPES.has(type);
}

/** Whether an output is of a kind that answers a call of this kind; ids are not compared. */
export function fitsCall(output: ResponsesItem, call: ResponsesItem): boolean {
  return OUTPUTS.get(call.type)?.includes(String(output.type)) === true;
}

/** Whether a model made it: reasoning, its messages, its calls of any kind. */
export function isMadeByModel({ type, value }: ResponsesItem): boolean {
  if (type === "message") return value["role"] === "assistant";
  return type === "reasoning" || (typeof type === "string" && type.endsWith("_call"));
}

export function hasId({ value }: ResponsesItem): boolean {
  return typeof value["id"] === "string" && value["id"] !== "";
}
