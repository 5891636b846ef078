// The arguments that a model wrote for a call, and ids for calls of providers that give none.
import { isFields } from "../core/conversation/event.ts";
import { isTooDeep, MAX_FOREIGN_DEPTH } from "../core/json.ts";
import type { AnswerPart } from "./llm-client.ts";

type ToolCall = Extract<AnswerPart, { readonly kind: "tool_call" }>;

/** A call as it streamed in. */
export interface CallDraft {
  readonly callId: string;
  readonly name: string;
  /** What the model wrote; nothing stands for no arguments. */
  readonly text: string;
  readonly signature?: string | undefined;
}

/** Gives the call whole; its arguments are null when the model wrote no JSON object. */
export function toToolCall({ callId, name, text, signature }: CallDraft): ToolCall {
  const metadata = signature === undefined ? {} : { metadata: { signature } };
  return { kind: "tool_call", callId, name, arguments: parseArguments(text), text, ...metadata };
}

/** Makes an id for a call: the same answer gives the same ids. `position` counts the answer's calls, from 0. */
export function madeUpId(answerId: string | null, position: number): string {
  const answer = (answerId ?? "").replace(/[^a-zA-Z0-9_-]/g, "").slice(-24);
  return answer === "" ? `call_${position}` : `call_${answer}_${position}`;
}

function parseArguments(text: string): ToolCall["arguments"] {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) && !isTooDeep(text, value, MAX_FOREIGN_DEPTH) ? value : null;
  } catch {
    return null;
  }
}
