// Reads requests of OpenAI's Chat Completions, as many servers take them: `{messages, tools}`, or the messages alone.
import { readToolDefinition } from "../../core/conversation/defined-tools.ts";
import { type EventMetadata, type Fields, fieldsOf, isFields } from "../../core/conversation/event.ts";
import { inferProvider } from "../../core/model/model-name.ts";
import type { AgentFormat } from "../agent-format.ts";
import { type BodyMessage, createBodyFormat, type UnnamedEvent } from "../request-body/read.ts";
import { stringOf } from "../session-source.ts";
import { readArguments, toOpenAiContent } from "./content.ts";

/** Requests of OpenAI's Chat Completions. */
export const CHAT_REQUESTS: AgentFormat = createBodyFormat({
  name: "openai-chat",
  title: "OpenAI Chat Completions",
  shape: "an object with `messages` that have a `role`",
  read: ({ model, tools, functions }, list) => {
    const provider = typeof model === "string" ? inferProvider(model) : null;
    const metadata = { ...(provider !== null && { provider }), ...(typeof model === "string" && { model }) };
    const offered = Array.isArray(tools) ? tools.map((tool) => fieldsOf(tool)["function"]) : functions;
    return {
      prompt: null,
      messages: list.map((message) => readMessage(fieldsOf(message), metadata)),
      tools: Array.isArray(offered) ? offered.flatMap((tool) => readToolDefinition(tool) ?? []) : [],
    };
  },
});

function readMessage(message: Fields, metadata: EventMetadata): BodyMessage {
  const { role, content } = message;
  switch (role) {
    case "assistant":
      return { events: answersOf(message, metadata), isFromUser: false };
    case "tool":
    case "function": {
      const call_id = stringOf(message, "tool_call_id") ?? stringOf(message, "name") ?? "";
      return {
        events: [{ type: "tool_call_response", call_id, content: toOpenAiContent(content), is_error: false }],
        isFromUser: false,
      };
    }
    case "system":
    case "developer":
      return {
        events: isBlank(content) ? [] : [{ type: "chat_request", role, content: toOpenAiContent(content) }],
        isFromUser: false,
      };
    default:
      return {
        events: isBlank(content) ? [] : [{ type: "chat_request", content: toOpenAiContent(content) }],
        isFromUser: true,
      };
  }
}

function answersOf(message: Fields, metadata: EventMetadata): readonly UnnamedEvent[] {
  const { content, tool_calls, function_call } = message;
  const reasoning = stringOf(message, "reasoning_content") ?? stringOf(message, "reasoning");
  const refusal = stringOf(message, "refusal");
  const calls = Array.isArray(tool_calls) ? tool_calls.filter(isFields).map((call) => callOf(call, metadata)) : [];
  return [
    ...(reasoning === undefined ? [] : [{ type: "chat_response", reasoning, metadata } as const]),
    ...(isBlank(content) ? [] : [{ type: "chat_response", message: toOpenAiContent(content), metadata } as const]),
    ...(refusal === undefined ? [] : [{ type: "chat_response", message: refusal, metadata } as const]),
    ...calls,
    ...(isFields(function_call) ? [callOf({ function: function_call }, metadata)] : []),
  ];
}

/** Old calls have no id: they and their results go by the function's name. */
function callOf(call: Fields, metadata: EventMetadata): UnnamedEvent {
  const { name, arguments: text, input } = fieldsOf(call["function"] ?? call["custom"]);
  const called = typeof name === "string" ? name : "";
  return {
    type: "tool_call_request",
    call_id: stringOf(call, "id") ?? called,
    name: called,
    arguments: typeof input === "string" ? { input } : readArguments(text),
    metadata,
  };
}

function isBlank(content: unknown): boolean {
  return (
    content === undefined || content === null || content === "" || (Array.isArray(content) && content.length === 0)
  );
}
