// A message list in the shape of OpenAI Chat Completions, prepared once for all rules: calls and results with their places.
// Anything may be given; what is no message counts as an empty one (rule C0 names it).
import { isFields } from "../event/fields.ts";

/** A JSON object in the provider's shape. */
export type OpenAiObject = Readonly<Record<string, unknown>>;

/** What decides about rules that are not in the shape alone. */
export interface OpenAiChatCheckOptions {
  /** Whether the list is for a server that is only compatible with OpenAI's: C7 and stricter forms are checked (default false). */
  readonly compatible?: boolean;
  /** Whether the server takes reasoning back (default false: C8 warns of it). */
  readonly reasoning?: boolean;
  /** Whether the list is sent as it stands (default true); false = a new request will follow, so its end is not judged. */
  readonly complete?: boolean;
}

/** One message with its position in the given list. */
export interface ChatMessage {
  /** 0-based. */
  readonly index: number;
  readonly role: unknown;
  readonly value: OpenAiObject;
  /** Calls of an assistant message, in order; empty for others. `block` of a position counts them, 0-based. */
  readonly calls: readonly OpenAiObject[];
}

/** The input of every rule. */
export interface OpenAiChatInput {
  readonly all: readonly ChatMessage[];
  readonly options: OpenAiChatCheckOptions;
}

/** Prepares a list for the rules. */
export function toOpenAiChatInput(messages: readonly unknown[], options: OpenAiChatCheckOptions): OpenAiChatInput {
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
