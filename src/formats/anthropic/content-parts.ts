// Content blocks of the Messages API as content parts. What only the API understands is carried verbatim.
import type { Content, ContentPart } from "../../core/conversation/event.ts";
import { isRecord, type RawLine, recordOf, stringOf } from "../json-line.ts";

/** Converts a message's or a result's content; a list of one plain text becomes that text. */
export function toContent(content: unknown): Content {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return content === undefined || content === null ? "" : [toPart(content)];
  const parts = content.map(toPart);
  const [only] = parts;
  return parts.length === 1 && only?.type === "text" ? only.text : parts;
}

function toPart(block: unknown): ContentPart {
  if (typeof block === "string") return { type: "text", text: block };
  if (!isRecord(block)) return opaque(block);
  const text = stringOf(block, "text");
  if (block["type"] === "text" && text !== undefined) return { type: "text", text };
  if (block["type"] === "image" || block["type"] === "document")
    return toMediaPart(block, block["type"]) ?? opaque(block);
  return opaque(block);
}

function toMediaPart(block: RawLine, type: "image" | "document"): ContentPart | undefined {
  const source = recordOf(block, "source") ?? {};
  const title = stringOf(block, "title");
  const extra = title === undefined ? {} : { title };
  const data = stringOf(source, "data");
  const mediaType = stringOf(source, "media_type");
  const url = stringOf(source, "url");
  if (source["type"] === "base64" && data !== undefined && mediaType !== undefined) {
    return { type, media_type: mediaType, data, ...extra };
  }
  return source["type"] === "url" && url !== undefined ? { type, url, ...extra } : undefined;
}

function opaque(value: unknown): ContentPart {
  return { type: "opaque", provider: "anthropic", value };
}

/** The plain text of a message's content, parts on lines of their own. */
export function plainTextOfParts(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .filter(isRecord)
    .flatMap((block) => stringOf(block, "text") ?? [])
    .join("\n");
}
