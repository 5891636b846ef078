// Content of items as Codex stores it: as OpenAI's APIs have it, with a word on how closely the model looked at an image.
import type { Content } from "../../core/event/event.ts";
import { isRecord, type RawLine } from "../json-line.ts";
import { toOpenAiContent } from "../openai-chat/content-parts.ts";

/** Converts a message's content or a call's output. An image is plain, so that every model is shown it. */
export function toItemContent(content: unknown): Content {
  return toOpenAiContent(Array.isArray(content) ? content.map(plainImage) : content);
}

function plainImage(part: unknown): unknown {
  if (!isRecord(part) || part["type"] !== "input_image" || typeof part["image_url"] !== "string") return part;
  const { detail: _, ...image } = part as RawLine;
  return image;
}
