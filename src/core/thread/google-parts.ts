// Content of events as parts of Google's generateContent. Blank texts, which the API rejects, are left out here.
import { attachmentText, isText, type MediaPart, textOfContent } from "../event/content.ts";
import type { Content, ContentPart } from "../event/event.ts";

/** A part as the API takes it. */
export type Part = Readonly<Record<string, unknown>>;

/** What a content became, and the rules that changed it on the way. */
export interface PartList {
  readonly parts: readonly Part[];
  /** Ids of provider rules, in the order they were met; empty when the content went through as it is. */
  readonly rules: readonly string[];
}

/** What an opaque part of this provider may hold; calls and results come as events. */
const OPAQUE_KINDS = ["executableCode", "codeExecutionResult", "fileData"];

/** Converts the content of a request or a message. */
export function toParts(content: Content): PartList {
  if (isText(content)) return textPart(textOfContent(content));
  const lists = content.map(convertPart);
  return { parts: lists.flatMap((list) => list.parts), rules: lists.flatMap((list) => list.rules) };
}

/**
 * Converts the content of a tool result: its text is the response, under the name that tells success from failure; what is
 * no text comes as parts of its own.
 */
export function toResponse(
  content: Content,
  isError: boolean,
): { readonly response: Part; readonly media: readonly Part[]; readonly rules: readonly string[] } {
  const { parts, rules } = toParts(isText(content) ? [] : content.filter((part) => !hasText(part)));
  return { response: { [isError ? "error" : "output"]: textOfContent(content) }, media: parts, rules };
}

/** Arguments as the object that the API takes; other values stand in one under `input`. */
export function toArguments(value: unknown): Part {
  if (value === undefined || value === null) return {};
  return typeof value === "object" && !Array.isArray(value) ? (value as Part) : { input: value };
}

/** The name of a function as the API takes it: 1–64 letters, digits, `_`, `.`, `:` or `-`, the first a letter or `_`. */
export function toFunctionName(name: string): string {
  const valid = name.replace(/[^a-zA-Z0-9_.:-]/g, "_").replace(/^(?![a-zA-Z_])/, "_");
  return valid.slice(0, 64);
}

function hasText(part: ContentPart): boolean {
  return part.type === "text" || (part.type === "attachment" && part.text !== undefined);
}

function textPart(text: string): PartList {
  return text.trim() === "" ? { parts: [], rules: ["G7"] } : { parts: [{ text }], rules: [] };
}

function convertPart(part: ContentPart): PartList {
  switch (part.type) {
    case "text":
      return textPart(textOfContent(part.text));
    case "attachment":
      return textPart(attachmentText(part));
    case "opaque":
      return opaquePart(part);
    case "image":
    case "document":
      return { parts: [mediaPart(part)], rules: [] };
  }
}

function opaquePart({ provider, value }: Extract<ContentPart, { readonly type: "opaque" }>): PartList {
  const fields = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const known =
    fields.length === 1 && OPAQUE_KINDS.includes(fields[0]?.[0] ?? "") && typeof fields[0]?.[1] === "object";
  return provider === "google" && known && fields[0]?.[1] !== null
    ? { parts: [Object.fromEntries(fields)], rules: [] }
    : { parts: [], rules: ["G11"] };
}

function mediaPart(part: MediaPart): Part {
  const { type, data, media_type, url } = part;
  if (typeof data === "string") return { inlineData: { mimeType: media_type ?? "application/octet-stream", data } };
  if (url !== undefined && media_type !== undefined) return { fileData: { mimeType: media_type, fileUri: url } };
  if (url !== undefined) return { text: `[${type} ${url}]` };
  return { text: data === undefined ? `[${type}]` : textOfContent(data) };
}
