// The content of an event: telling its forms apart and reading its text, the same for every provider and every front.
import { decodeBase64 } from "../base64.ts";
import type { Content, ContentPart, Text } from "./event.ts";
import { fieldsOf } from "./fields.ts";

/** A part that no text can stand for. */
export type MediaPart = Extract<ContentPart, { readonly type: "image" | "document" }>;

/** What only its provider understands. */
export type OpaquePart = Extract<ContentPart, { readonly type: "opaque" }>;

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

/** Media types of text, with what they are followed by (`; charset=…`). */
const TEXT_MEDIA = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|x-yaml|javascript|x-ndjson|toml|sql)\b)/i;

/** Whether a media type is one of text. */
export function isTextMedia(type: unknown): boolean {
  return typeof type === "string" && TEXT_MEDIA.test(type);
}

/** Gives the text of a document that is one; null of an image, and of a document whose bytes are no text or not at hand. */
export function documentText({ type, media_type, data, url }: MediaPart): string | null {
  if (type !== "document") return null;
  if (typeof data !== "string") return typeof url === "string" ? textOfUrl(url) : null;
  return isTextMedia(media_type) ? decodedText(data) : null;
}

/** Where a picture or a document is, in few words: of one that stands in its URL, how long that is. */
export function mediaUrl(url: Text | undefined): string | undefined {
  if (typeof url !== "string") return url === undefined ? undefined : plainText(url);
  return url.startsWith("data:") ? `data URL of ${url.length} characters` : url;
}

/** Names it by its provider and its kind: `anthropic document`, `provider item`. */
export function opaqueName({ provider = "provider", value }: OpaquePart): string {
  const { type } = fieldsOf(value);
  return `${provider} ${typeof type === "string" && type !== "" ? type : "item"}`;
}

/** Keys of providers' items under which people find words; under others are ids, ciphers and settings. */
const WORDS: ReadonlySet<string> = new Set(
  "title filename context caption text content source resource refusal action input query queries results executableCode codeExecutionResult code output outputs logs stdout stderr".split(
    " ",
  ),
);
const TEXT_URL = /^data:([^,]*?)(;base64)?,/;
const DEEPEST = 100;

/** Gives what people can read of what only its provider understands, in order: titles, texts, documents of text. */
export function opaqueTexts({ value }: OpaquePart): readonly string[] {
  const texts: string[] = [];
  // A bare string says nothing of what it is.
  if (typeof value !== "string") collectWords(value, texts, 0);
  return texts;
}

function collectWords(value: unknown, texts: string[], depth: number): void {
  if (typeof value === "string") texts.push(value);
  if (depth >= DEEPEST || typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) collectWords(wordsUnder(value, key, inner), texts, depth + 1);
}

/** What may hold words of a field; undefined = nothing. */
function wordsUnder(value: object, key: string, inner: unknown): unknown {
  if (Array.isArray(value) || WORDS.has(key)) return inner;
  if (key === "data") return fieldsOf(value)["type"] === "text" ? inner : undefined;
  return key === "url" && typeof inner === "string" ? textOfUrl(inner) : undefined;
}

/** The text that a data URL holds; null of any other. */
function textOfUrl(url: string): string | null {
  const [head = "", type = "", isBase64] = TEXT_URL.exec(url) ?? [];
  const isText = isBase64 !== undefined && isTextMedia(type === "" ? "text/plain" : type);
  return isText ? decodedText(url.slice(head.length)) : null;
}

function decodedText(base64: string): string | null {
  const bytes = decodeBase64(base64);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}
