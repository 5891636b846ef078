// A view as messages of a model that runs in this process. Everything is text: calls of tools stand with their results inside
// what the model said; of media only that they were there.
import { toOpenAiChatThread } from "../core/model/openai-chat-thread.ts";
import type { ProviderObject } from "../core/model/openai-thread.ts";
import type { LlamaCall, LlamaMessage } from "./gguf-library.ts";
import type { LlmRequest } from "./llm-client.ts";

/** Gives the messages; the same request always gives the same. */
export function toLlamaHistory({ model, view, system = "" }: LlmRequest): readonly LlamaMessage[] {
  const items = toOpenAiChatThread(view, { model, system }).items.map(({ item }) => item);
  const results = new Map(
    items.filter(({ role }) => role === "tool").map((item) => [item["tool_call_id"], item["content"]]),
  );
  const messages: LlamaMessage[] = [];
  for (const item of items) {
    if (item["role"] === "tool") continue;
    const message = toMessage(item, results);
    const last = messages.at(-1);
    if (last?.type === "model" && message.type === "model") messages[messages.length - 1] = join(last, message);
    else messages.push(message);
  }
  return messages;
}

function toMessage(
  { role, content, tool_calls }: ProviderObject,
  results: ReadonlyMap<unknown, unknown>,
): LlamaMessage {
  const text = textOf(content);
  if (role === "user") return { type: "user", text };
  if (role !== "assistant") return { type: "system", text };
  const calls = Array.isArray(tool_calls) ? (tool_calls as readonly ProviderObject[]) : [];
  return {
    type: "model",
    response: [
      ...(text === "" ? [] : [text]),
      ...calls.map(({ id, function: called }, index): LlamaCall => {
        const { name, arguments: params } = called as { readonly name: string; readonly arguments: string };
        const result = results.get(id) ?? "";
        return { type: "functionCall", name, params: JSON.parse(params), result, startsNewChunk: index === 0 };
      }),
    ],
  };
}

type Answer = Extract<LlamaMessage, { readonly type: "model" }>;

/** What is said in a row is one message, as the library has it: results of calls are inside it. */
function join(before: Answer, after: Answer): Answer {
  const isText = typeof before.response.at(-1) === "string" && typeof after.response[0] === "string";
  return { type: "model", response: [...before.response, ...(isText ? ["\n\n"] : []), ...after.response] };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? (content as readonly ProviderObject[]).map(nameOf).join("\n") : "";
}

/** A part as text; media are named as they are where only text can stand. */
function nameOf({ type, text, file }: ProviderObject): string {
  if (type === "text") return String(text);
  if (type === "file") return `[document: ${(file as { readonly filename?: string }).filename}]`;
  return type === "image_url" ? "[image]" : `[${type}]`;
}
