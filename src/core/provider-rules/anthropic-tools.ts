// Rules A1–A8 of the Anthropic Messages API: how calls and their results must stand. "Next" and "previous" are meant
// without the system messages that newer models accept in between.
import {
  type AnthropicBlock,
  type AnthropicChecked,
  blocksOfType,
  type PlacedBlock,
  type PlacedMessage,
} from "./anthropic-messages.ts";
import type { Breach, Rule } from "./rule.ts";

const TOOL_ID = /^[a-zA-Z0-9_-]{1,64}$/;
/** After a call only further calls may stand; blocks of server tools come as the API gave them. */
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

function* resultsBehind({ dialogue }: AnthropicChecked): Generator<Breach> {
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
export const ANTHROPIC_TOOL_RULES: readonly Rule<AnthropicChecked>[] = [
  { id: "A1", severity: "error", find: unanswered },
  { id: "A2", severity: "error", find: unasked },
  { id: "A3", severity: "error", find: scattered },
  { id: "A4", severity: "error", find: resultsBehind },
  { id: "A5", severity: "error", find: afterCalls },
  { id: "A6", severity: "error", find: repeatedCalls },
  { id: "A7", severity: "error", find: repeatedResults },
  { id: "A8", severity: "error", find: badIds },
];

interface Answer {
  readonly call: PlacedBlock;
  readonly answered: boolean;
  /** A result of that id stands further down. */
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
