// Rules C1–C4 and C6 of OpenAI Chat Completions: the tool messages directly after an assistant message answer its calls, each
// once, in any order.
import type { ChatMessage, OpenAiChatInput, OpenAiObject } from "./openai-chat-messages.ts";
import { functionOf } from "./openai-chat-shape.ts";
import type { Breach, Rule } from "./rule.ts";

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
    if (isLater) yield { position, message: `Another message stands between the call ${id} and its tool message.` };
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
      yield { position, message: "The arguments of a call are not a text of JSON." };
  }
}

function* noJson({ all }: OpenAiChatInput): Generator<Breach> {
  for (const { position, call } of argumentsOf(all)) {
    const text = call["arguments"];
    if (typeof text === "string" && !isJson(text))
      yield { position, message: "The arguments of a call are a text, but not of JSON." };
  }
}

/** Rules C1–C4 and C6, in order. */
export const OPENAI_CHAT_TOOL_RULES: readonly Rule<OpenAiChatInput>[] = [
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
  /** A tool message of that id stands further down. */
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
