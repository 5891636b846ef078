// Content blocks of pi's messages as content parts, and back. What jpg does not know is carried verbatim.

import { type Content, type ContentPart, plainText } from "../../core/conversation/event.ts";
import { isRecord, type RawLine, stringOf } from "../json-line.ts";

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

/** Converts a content to blocks. What pi has no block for is named, so that the model sees that something is missing. */
export function blocksOfContent(content: Content): readonly RawLine[] {
  if (typeof content === "string" || !Array.isArray(content)) return textBlocks(plainText(content as string));
  return content.flatMap(partBlocks);
}

function partBlocks(part: ContentPart): readonly RawLine[] {
  switch (part.type) {
    case "text":
      return textBlocks(plainText(part.text));
    case "attachment":
      return textBlocks([part.name, plainText(part.text ?? "")].filter(Boolean).join("\n"));
    case "opaque":
      return part.provider === PI && isRecord(part.value) ? [part.value] : [];
    case "image":
    case "document":
      return [mediaBlock(part)];
  }
}

function mediaBlock({
  type,
  data,
  media_type,
  url,
  title,
}: Extract<ContentPart, { type: "image" | "document" }>): RawLine {
  if (type === "image" && typeof data === "string")
    return { type, data, mimeType: media_type ?? "application/octet-stream" };
  return { type: "text", text: `[${[type, title, url].filter((word) => word !== undefined).join(" ")}]` };
}

function textBlocks(text: string): readonly RawLine[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}
