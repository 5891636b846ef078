// Content cut into the pieces that both OpenAI APIs know: texts, images, files. Where an API takes only text in some place,
// a piece is named there instead, so that the model sees that something is missing.
import { attachmentText, isText, type MediaPart, plainText } from "../event/content.ts";
import type { Content, ContentPart, Text } from "../event/event.ts";
import type { ProviderObject } from "./openai-thread.ts";

export type ContentPiece =
  | { readonly type: "text"; readonly text: string }
  /** `url` may be a data URL. */
  | { readonly type: "image"; readonly url: string }
  /** `data` is a data URL; else the file is only known by its `url`. */
  | { readonly type: "file"; readonly name: string; readonly data?: string; readonly url?: string }
  /** What OpenAI gave, verbatim. */
  | { readonly type: "opaque"; readonly value: ProviderObject }
  /** What only another provider reads. */
  | { readonly type: "foreign" };

/** Cuts a content into pieces; blank texts are left out. */
export function toPieces(content: Content): readonly ContentPiece[] {
  const pieces = isText(content) ? [textPiece(content)] : content.map(toPiece);
  return pieces.filter((piece) => piece.type !== "text" || piece.text.trim() !== "");
}

/** The pieces as one text, each on lines of its own; media are named. */
export function joinPieces(pieces: readonly ContentPiece[]): string {
  return pieces.map(nameOf).filter(Boolean).join("\n");
}

/** A piece as text: `[image]`, `[document: chart.pdf]`; empty for what cannot be read. */
export function nameOf(piece: ContentPiece): string {
  switch (piece.type) {
    case "text":
      return piece.text;
    case "image":
      return piece.url.startsWith("data:") ? "[image]" : `[image ${piece.url}]`;
    case "file":
      return `[document: ${[piece.name, piece.url].filter(Boolean).join(" ")}]`;
    case "opaque":
    case "foreign":
      return "";
  }
}

function toPiece(part: ContentPart): ContentPiece {
  switch (part.type) {
    case "text":
      return textPiece(part.text);
    case "attachment":
      return { type: "text", text: attachmentText(part) };
    case "opaque":
      return isOpenAiObject(part) ? { type: "opaque", value: part.value as ProviderObject } : { type: "foreign" };
    case "image":
    case "document":
      return mediaPiece(part);
  }
}

function textPiece(text: Text): ContentPiece {
  return { type: "text", text: plainText(text) };
}

function isOpenAiObject({ provider, value }: Extract<ContentPart, { readonly type: "opaque" }>): boolean {
  return provider === "openai" && typeof value === "object" && value !== null && !Array.isArray(value);
}

function mediaPiece(part: MediaPart): ContentPiece {
  const { type, data, url, title, media_type } = part;
  const name = title ?? (media_type === "application/pdf" ? "document.pdf" : "document");
  if (typeof data === "string") {
    const dataUrl = `data:${media_type ?? "application/octet-stream"};base64,${data}`;
    return type === "image" ? { type, url: dataUrl } : { type: "file", name, data: dataUrl };
  }
  if (url !== undefined) return type === "image" ? { type, url } : { type: "file", name, url };
  return { type: "text", text: data === undefined ? `[${type}]` : plainText(data) };
}
