// Content blocks of pi's messages as content parts. What jpg does not know is carried verbatim.

import type { Content, ContentPart } from "../../core/event/event.ts";
import { isRecord, stringOf } from "../json-line.ts";

/** Marks what only pi understands. */
const PI = "pi";

/** Converts the content of a message; a list of one plain text becomes that text. */
export function contentOfBlocks(content: unknown): Content {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return content === undefined || content === null ? "" : [toPart(content)];
  const parts = content.map(toPart);
  const [only] = parts;
  return parts.length === 1 && only?.type === "text" ? only.text : parts;
}

function toPart(block: unknown): ContentPart {
  if (typeof block === "string") return { type: "text", text: block };
  if (!isRecord(block)) return { type: "opaque", provider: PI, value: block };
  const text = stringOf(block, "text");
  if (block["type"] === "text" && text !== undefined) return { type: "text", text };
  const data = stringOf(block, "data");
  const mediaType = stringOf(block, "mimeType");
  if (block["type"] === "image" && data !== undefined && mediaType !== undefined)
    return { type: "image", media_type: mediaType, data };
  return { type: "opaque", provider: PI, value: block };
}
