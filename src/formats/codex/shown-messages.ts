// What Codex shows of a session that is resumed: messages of its own, beside the items that it sends.
import type { Event } from "../../core/conversation/event.ts";
import type { ProviderObject } from "../../core/model/openai-thread.ts";
import { isRecord, stringOf } from "../json-line.ts";

/** Gives the message that shows an item; null for one that it shows nothing of. `event` is the one that the item shows. */
export function shownMessage(item: ProviderObject, event: Event | undefined): ProviderObject | null {
  if (item["type"] === "reasoning") return withText("agent_reasoning", "text", textOf(item["summary"]));
  if (item["type"] !== "message" || event?.metadata?.origin === "harness") return null;
  if (item["role"] === "assistant") return withText("agent_message", "message", textOf(item["content"]));
  return item["role"] === "user" ? withText("user_message", "message", textOf(item["content"])) : null;
}

function withText(type: string, key: string, text: string): ProviderObject | null {
  return text === "" ? null : { type, [key]: text };
}

function textOf(parts: unknown): string {
  if (!Array.isArray(parts)) return "";
  return parts.flatMap((part) => (isRecord(part) ? (stringOf(part, "text") ?? []) : [])).join("\n");
}
