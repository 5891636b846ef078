// Items as Codex itself would have stored them, where the Responses API would be sent something plainer: reasoning with its
// summary, calls of its own shell, texts of the harness in the role that it knows.

import {
  type ChatResponse,
  type Event,
  isText,
  plainText,
  type ToolCallResponse,
} from "../../core/conversation/event.ts";
import { isSameModelFamily } from "../../core/model/model-name.ts";
import { toInputContent } from "../../core/model/openai-responses-thread.ts";
import type { ProviderObject } from "../../core/model/openai-thread.ts";
import { isRecord } from "../json-line.ts";

/** Providers whose reasoning no other one reads. */
const FOREIGN: ReadonlySet<unknown> = new Set(["anthropic", "google"]);

/** Makes the item of reasoning; absent for that of another provider, or of another family than the model that will read it. */
export function toOwnReasoning(event: ChatResponse, reader: string | undefined): ProviderObject | undefined {
  const { provider, model, encrypted, item } = event.metadata ?? {};
  const isOwn = provider === "openai" || (encrypted !== undefined && provider !== undefined && !FOREIGN.has(provider));
  if (!isOwn || (reader !== undefined && model !== undefined && !isSameModelFamily(reader, model))) return undefined;
  const text = plainText(event.reasoning ?? "");
  return {
    type: "reasoning",
    summary: text === "" ? [] : [{ type: "summary_text", text }],
    ...(isRecord(item) && item),
    encrypted_content: encrypted ?? null,
  };
}

/** Gives an item of the API the form in which Codex stores it; `event` is the one that it shows. */
export function toStoredItem(item: ProviderObject, event: Event | undefined): ProviderObject {
  // Codex sends no message of the role `system` again.
  if (item["type"] === "message" && item["role"] === "system") return { ...item, role: "developer" };
  if (event?.type === "tool_call_response") return { ...item, ...partsOf(event) };
  if (event?.type !== "tool_call_request" || item["type"] !== "function_call") return item;
  const { call_type: kind, item: own } = event.metadata ?? {};
  // A call whose arguments were taken out is none that its shell could have run.
  if (kind !== "local_shell" || !isRecord(event.arguments) || event.arguments["type"] === undefined)
    return { ...item, ...(isRecord(own) && own) };
  return { type: "local_shell_call", call_id: item["call_id"], status: "completed", action: event.arguments };
}

/** An output of several texts stays one of several. */
function partsOf({ content }: ToolCallResponse): ProviderObject {
  const { parts, rules } = isText(content) ? { parts: [], rules: [] } : toInputContent(content);
  return parts.length > 1 && rules.length === 0 ? { output: parts } : {};
}
