// The texts of an event that a model reads, those of documents and of providers' own items among them.
import { documentText, opaqueTexts } from "../event/content.ts";
import type { Content, ContentPart, Event, Text } from "../event/event.ts";

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
  return (content as Exclude<Content, Text>).flatMap(partTexts);
}

function partTexts(part: ContentPart): readonly string[] {
  switch (part.type) {
    case "text":
      return typeof part.text === "string" ? [part.text] : [];
    case "attachment":
      return [part.name, part.text].filter((text) => typeof text === "string");
    case "opaque":
      return opaqueTexts(part);
    default:
      return [part.title, documentText(part)].filter((text) => typeof text === "string");
  }
}
