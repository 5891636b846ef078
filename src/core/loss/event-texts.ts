// The texts of an event that a model reads. Payloads kept under `attachments/` and opaque data are not looked into.
import type { Content, Event, Text } from "../event/event.ts";

const DEEPEST = 100;

/** Gives the texts in order; for arguments every string inside them. Empty for kinds that no model is sent. */
export function textsOf(event: Event): readonly string[] {
  switch (event.type) {
    case "chat_request":
    case "tool_call_response":
      return contentTexts(event.content);
    case "chat_response":
      return contentTexts(event.message ?? event.reasoning ?? "");
    case "tool_call_request":
      return stringsIn(event.arguments);
    default:
      return [];
  }
}

/** Gives every string inside a JSON value, in order; what lies deeper than 100 levels is left out. */
export function stringsIn(value: unknown): readonly string[] {
  const strings: string[] = [];
  collectStrings(value, strings, 0);
  return strings;
}

function collectStrings(value: unknown, strings: string[], depth: number): void {
  if (typeof value === "string") strings.push(value);
  else if (typeof value === "object" && value !== null && !("$attachment" in value) && depth < DEEPEST) {
    for (const item of Object.values(value)) collectStrings(item, strings, depth + 1);
  }
}

function contentTexts(content: Content): readonly string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  const parts = content as Exclude<Content, Text>;
  return parts.flatMap((part) => {
    if (part.type === "text") return typeof part.text === "string" ? [part.text] : [];
    if (part.type === "attachment") return [part.name, part.text].filter((text) => typeof text === "string");
    return part.type === "opaque" || part.title === undefined ? [] : [part.title];
  });
}
