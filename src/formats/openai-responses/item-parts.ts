// What items of the Responses API say, for all who read them: requests as the API takes them, and agents that store items.
import type { ContentPart, EventMetadata } from "../../core/conversation/event.ts";
import { isRecord, type RawLine, stringOf } from "../json-line.ts";
import { readArguments } from "../openai-chat/read-arguments.ts";

/** An item that only OpenAI understands, as it is. */
export function opaqueItem(value: RawLine): ContentPart {
  return { type: "opaque", provider: "openai", value };
}

/** What stands beside the words of an answer. */
export function answerFacts(item: RawLine): EventMetadata {
  const phase = stringOf(item, "phase");
  return phase === undefined ? {} : { phase };
}

/** What may be read of reasoning: its summary, and its text where a server gives it. */
export interface ReasoningItem {
  readonly text: string;
  /** Parts of the summary, and of the text. */
  readonly summary: readonly unknown[];
  readonly content: readonly unknown[];
  readonly facts: EventMetadata;
}

export function readReasoningItem(item: RawLine): ReasoningItem {
  const [summary, content] = [listOf(item, "summary"), listOf(item, "content")];
  const texts = [...summary, ...content].flatMap((part) => (isRecord(part) ? (stringOf(part, "text") ?? []) : []));
  const encrypted = stringOf(item, "encrypted_content");
  return { text: texts.join("\n\n"), summary, content, facts: encrypted === undefined ? {} : { encrypted } };
}

/** A call: by name and arguments, or, where the tool takes a text, by that text. */
export interface CallItem {
  readonly name: string;
  readonly arguments: unknown;
  readonly facts: EventMetadata;
}

export function readCallItem(item: RawLine): CallItem {
  const isCustom = item["type"] === "custom_tool_call";
  return {
    name: stringOf(item, "name") ?? "",
    arguments: isCustom ? { input: item["input"] ?? "" } : readArguments(item["arguments"]),
    facts: isCustom ? { call_type: "custom" } : {},
  };
}

function listOf(item: RawLine, key: string): readonly unknown[] {
  const value = item[key];
  return Array.isArray(value) ? value : [];
}
