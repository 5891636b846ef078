// Reads requests of the Anthropic Messages API: `{system, messages, tools}`, or the messages alone.

import { readToolDefinition } from "../../core/conversation/defined-tools.ts";
import { type EventMetadata, type Fields, fieldsOf, isFields } from "../../core/conversation/event.ts";
import type { AgentFormat } from "../agent-format.ts";
import { stringOf } from "../json-line.ts";
import { createBodyFormat } from "../request-body/body-format.ts";
import type { SaidEvent, SaidMessage } from "../request-body/said.ts";
import { toContent } from "./content-parts.ts";
import { readAnswerBlock, readResultBlock, secretsOfBlock } from "./read-blocks.ts";

/** Requests of the Anthropic Messages API. */
export const ANTHROPIC_REQUESTS: AgentFormat = createBodyFormat({
  name: "anthropic",
  title: "Anthropic Messages",
  shape: "an object with `messages`, and `system` beside them",
  read: ({ system, model, tools }, list) => {
    const metadata = { provider: "anthropic", ...(typeof model === "string" && { model }) };
    return {
      prompt: system === undefined ? null : toContent(system),
      messages: list.map((message) => readMessage(fieldsOf(message), metadata)),
      tools: Array.isArray(tools) ? tools.flatMap((tool) => toolOf(fieldsOf(tool)) ?? []) : [],
    };
  },
});

function blocksOf(message: unknown): readonly Fields[] {
  const content = fieldsOf(message)["content"];
  return Array.isArray(content) ? content.filter(isFields) : [];
}

function readMessage(message: Fields, metadata: EventMetadata): SaidMessage {
  const { role, content } = message;
  if (role === "assistant") return { said: answersOf(message, metadata), isUsers: false };
  if (content === undefined || content === null) return { said: [], isUsers: false };
  if (role === "system")
    return { said: [{ type: "chat_request", role: "system", content: toContent(content) }], isUsers: false };
  const results = blocksOf(message).filter(isResult).map(readResultBlock);
  const others = results.length === 0 ? content : blocksOf(message).filter((block) => !isResult(block));
  const isEmpty = Array.isArray(others) && others.length === 0;
  const asked: readonly SaidEvent[] = isEmpty ? [] : [{ type: "chat_request", content: toContent(others) }];
  return { said: [...results, ...asked], isUsers: results.length === 0 };
}

function answersOf(message: Fields, metadata: EventMetadata): readonly SaidEvent[] {
  const text = stringOf(message, "content");
  const blocks = text === undefined ? blocksOf(message) : [{ type: "text", text }];
  return blocks.map((block) => readAnswerBlock(block, { ...metadata, ...secretsOfBlock(block) }));
}

function isResult(block: Fields): boolean {
  return block["type"] === "tool_result";
}

function toolOf({ name, description, input_schema }: Fields): ReturnType<typeof readToolDefinition> {
  return readToolDefinition({ name, description, parameters: input_schema });
}
