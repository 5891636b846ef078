// What of an event is searched, and of which events: whoever said them.

import { stringsIn, textsOf } from "../../core/compact/hidden-content.ts";
import type { Event } from "../../core/conversation/event.ts";

/** Who said what is looked for: `tool` = calls and their results; `summary` = what stands for turns, looked at only where it is named. */
export type SearchScope = "user" | "assistant" | "tool" | "summary";

export const SEARCH_SCOPES: readonly SearchScope[] = ["user", "assistant", "tool", "summary"];

/** Whether an event was said by one of them; absent = by anybody. */
export function scopeTest(scopes: readonly SearchScope[] | undefined): (event: Event) => boolean {
  if (scopes === undefined) return () => true;
  return ({ type }) => {
    if (type === "chat_request") return scopes.includes("user");
    if (type === "chat_response") return scopes.includes("assistant");
    return (type === "tool_call_request" || type === "tool_call_response") && scopes.includes("tool");
  };
}

/** Gives what people and models read of an event; nothing of kinds that no model sees. */
export function searchedTexts(event: Event): readonly string[] {
  if (event.type === "tool_call_request") return [event.name, ...textsOf(event)];
  if (event.type === "chat_response" && event.data !== undefined) return stringsIn(event.data);
  return textsOf(event);
}
