// Reads requests of OpenAI's Responses API: `{instructions, input, tools}`, or the items alone.

import { readToolDefinition } from "../../core/conversation/defined-tools.ts";
import { fieldsOf } from "../../core/conversation/event.ts";
import type { AgentFormat } from "../agent-format.ts";
import { createBodyFormat } from "../request-body/body-format.ts";
import { readItem } from "./read-item.ts";

/** Requests of OpenAI's Responses API. */
export const RESPONSES_REQUESTS: AgentFormat = createBodyFormat({
  name: "openai-responses",
  title: "OpenAI Responses",
  shape: "an object with `input`, and `instructions` beside it",
  read: ({ instructions, model, tools }, list) => {
    const metadata = { provider: "openai", ...(typeof model === "string" && { model }) };
    return {
      prompt: typeof instructions === "string" ? instructions : null,
      messages: list.map((item) => readItem(fieldsOf(item), metadata)),
      tools: Array.isArray(tools) ? tools.flatMap((tool) => readToolDefinition(tool) ?? []) : [],
    };
  },
});
