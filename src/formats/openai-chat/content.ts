// OpenAI's message parts as content parts: Chat Completions and Responses have the same parts under different names. What only
// OpenAI understands is carried verbatim.
import { type Content, type ContentPart, type Fields, fieldsOf, isFields } from "../../core/conversation/event.ts";
import { stringOf } from "../session-source.ts";

const TEXTS: ReadonlySet<unknown> = new Set(["text", "input_text", "output_text"]);
const DATA_URL = /^data:([^;,]+);base64,/;

/** Converts a message's or an output's content; a list of one plain text becomes that text. */
export function toOpenAiContent(content: unknown): Content {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return content === undefined || content === null ? "" : [toPart(content)];
  const parts = content.map(toPart);
  const [only] = parts;
  return parts.length === 1 && only?.type === "text" ? only.text : parts;
}

function toPart(part: unknown): ContentPart {
  if (typeof part === "string") return { type: "text", text: part };
  if (!isFields(part)) return opaque(part);
  const text = stringOf(part, "text");
  if (TEXTS.has(part["type"]) && text !== undefined) return { type: "text", text };
  return imageOf(part) ?? fileOf(part) ?? opaque(part);
}

/** Reads a plain image that every model can see; `detail`, which only OpenAI knows, is dropped. */
function imageOf({ type, image_url: image, detail: _, ...others }: Fields): ContentPart | undefined {
  if (type !== "image_url" && type !== "input_image") return undefined;
  const { url, detail: __, ...more } = isFields(image) ? image : { url: image };
  const isPlain = typeof url === "string" && Object.keys({ ...others, ...more }).length === 0;
  return isPlain ? mediaOf("image", url) : undefined;
}

function fileOf(part: Fields): ContentPart | undefined {
  const file = part["type"] === "file" ? fieldsOf(part["file"]) : part["type"] === "input_file" ? part : {};
  const title = stringOf(file, "filename");
  const url = stringOf(file, "file_data") ?? stringOf(file, "file_url");
  if (url === undefined) return undefined;
  return { ...mediaOf("document", url), ...(title !== undefined && { title }) };
}

function mediaOf(type: "image" | "document", url: string): ContentPart {
  const found = DATA_URL.exec(url);
  return found === null ? { type, url } : { type, media_type: found[1] ?? "", data: url.slice(found[0].length) };
}

function opaque(value: unknown): ContentPart {
  return { type: "opaque", provider: "openai", value };
}

/** Parses arguments to an object; other text is kept as it is. */
export function readArguments(text: unknown): unknown {
  if (typeof text !== "string") return text ?? {};
  if (text === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : text;
  } catch {
    return text; // cut short by the model
  }
}
