// The content of an event: telling its forms apart and reading its text, the same for every provider and every front.
import type { Content, ContentPart, Text } from "./event.ts";

/** A part that no text can stand for. */
export type MediaPart = Extract<ContentPart, { readonly type: "image" | "document" }>;

/** Whether a content is one text, or a reference to one, and not a list of parts. */
export function isText(content: Content): content is Text {
  return !Array.isArray(content);
}

export function isMedia(part: ContentPart): part is MediaPart {
  return part.type === "image" || part.type === "document";
}

/** Gives the images and documents of a content, in order. */
export function mediaOf(content: Content): readonly MediaPart[] {
  return isText(content) ? [] : content.filter(isMedia);
}

/** Gives a text as it stands. A payload that was not brought in is named, so that the model sees that something is missing. */
export function plainText(text: Text): string {
  return typeof text === "string" ? text : `[attachment ${text.$attachment}]`;
}

/** Gives the text of a content, parts on lines of their own; what is no text is left out. */
export function textOfContent(content: Content): string {
  if (isText(content)) return plainText(content);
  return content
    .flatMap((part) => (part.type === "text" || part.type === "attachment" ? plainText(part.text ?? "") : []))
    .join("\n");
}

/** Gives the words of a content for a title: what was typed, else the names of what is attached, never what that holds. */
export function wordsOfContent(content: Content): string {
  if (isText(content)) return plainText(content);
  const typed = content.flatMap((part) => (part.type === "text" ? plainText(part.text) : []));
  if (typed.some((text) => text.trim() !== "")) return typed.join("\n");
  return content.flatMap((part) => (part.type === "attachment" ? (part.name ?? []) : [])).join(", ");
}

/** Gives an attachment as one text: its name, then what it holds; either may be missing. */
export function attachmentText({ name, text }: Extract<ContentPart, { readonly type: "attachment" }>): string {
  return [name, plainText(text ?? "")].filter(Boolean).join("\n");
}
