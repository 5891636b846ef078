// How many bytes of text a model is sent of an event. Counts UTF-8 without encoding anything.
import type { Event } from "./event.ts";

/** Counts the UTF-8 bytes of the texts a model is sent of an event; JSON punctuation is left out. 0 for kinds no model sees. */
export function textBytes(event: Event): number {
  switch (event.type) {
    case "chat_request":
    case "tool_call_response":
      return bytesIn(event.content);
    case "chat_response":
      return bytesIn(event.message ?? event.reasoning ?? event.data);
    case "tool_call_request":
      return utf8Length(event.name) + bytesIn(event.arguments);
    default:
      return 0;
  }
}

function bytesIn(value: unknown): number {
  if (typeof value === "string") return utf8Length(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value).length;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((bytes, entry) => bytes + bytesIn(entry), 0);
}

const BEYOND_ASCII = /[^\0-\x7f]/;

function utf8Length(text: string): number {
  if (!BEYOND_ASCII.test(text)) return text.length;
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    // A pair of surrogates is two units and four bytes, any other unit above 7FF three bytes.
    const isSurrogate = unit >= 0xd800 && unit <= 0xdfff;
    bytes += unit < 0x800 || isSurrogate ? 1 : 2;
  }
  return bytes;
}
