// What a stripped or truncated tool call looks like to the model. The call's name, id and error status always stay.
import { forJson } from "../safe-text.ts";
import { isMovedOut } from "./attachment.ts";
import type { Truncation } from "./compaction.ts";
import {
  type Content,
  type ContentPart,
  isText,
  type Text,
  type ToolCallRequest,
  type ToolCallResponse,
} from "./event.ts";

/** How stubs are written; never changes which events are shown. */
export interface StubOptions {
  /** Whether the stub of a result names the event that holds the output. */
  readonly pointers?: boolean;
  /** Whether the stub of a result is followed by the first line of the output. */
  readonly firstLine?: boolean;
  /** The call whose arguments' head the stub of a result shows; absent = it shows none. */
  readonly headOf?: ToolCallRequest | undefined;
  /** The whole stub of a result, in an agent's words; absent = jpg's. */
  readonly text?: string | undefined;
}

/** Longest first line that a stub shows, in characters: output without line ends must not come back through it. */
const FIRST_LINE_CHARS = 200;

/** Longest head of arguments that a stub shows, in characters. */
const HEAD_CHARS = 120;
/** Line and paragraph separators, which JSON leaves raw. */
const SEPARATORS = /[\u2028\u2029]/g;

const DEFAULT_HEAD = 0.5;

/** Strips the arguments of a call to `{}`. */
export function stripCall(request: ToolCallRequest): ToolCallRequest {
  return { ...request, arguments: {} };
}

/** Strips a result to the style's text, else to `[compacted] <tool>: success|error`; `tool` is undefined when its call is not known. */
export function stripResult(
  response: ToolCallResponse,
  tool: string | undefined,
  options: StubOptions,
): ToolCallResponse {
  if (options.text !== undefined) return { ...response, content: options.text };
  const status = `[compacted] ${tool ?? "unknown"}: ${response.is_error ? "error" : "success"}`;
  const pointer = options.pointers === true ? ` · ${response.id}` : "";
  const head = options.headOf === undefined ? "" : headOfArguments(options.headOf);
  const line = options.firstLine === true ? findFirstLine(response.content) : "";
  const lines = [`${status}${pointer}`, head, line];
  return { ...response, content: lines.filter((one) => one !== "").join("\n") };
}

/**
 * Truncates the text of a result to its head and tail, saying how many characters are missing. Text parts are joined by line
 * ends; other parts stay. A result that would not become shorter is returned as it is.
 */
export function truncateResult(
  response: ToolCallResponse,
  truncation: Truncation,
  tool: string | undefined,
  options: StubOptions,
): ToolCallResponse {
  const text = joinText(response.content);
  if (text === undefined) return stripResult(response, tool, options);
  const shorter = truncateText(text, truncation);
  return shorter === text ? response : { ...response, content: replaceText(response.content, shorter) };
}

/** Truncates every string inside the arguments of a call that is longer than the limit. */
export function truncateCall(request: ToolCallRequest, truncation: Truncation): ToolCallRequest {
  const shorter = truncateStrings(request.arguments, truncation);
  return shorter === request.arguments ? request : { ...request, arguments: shorter };
}

/** Removes every text longer than the limit from the arguments of a call; the rest keeps its place and order. */
export function dropLongTexts(request: ToolCallRequest, maxChars: number): ToolCallRequest {
  const shorter = withoutLongTexts(request.arguments, maxChars);
  if (shorter === request.arguments) return request;
  return { ...request, arguments: shorter === undefined ? {} : shorter };
}

/** Keeps the head and tail of a text longer than `max_chars`, never cutting a surrogate pair; a shorter text is returned as it is. */
export function truncateText(text: string, { max_chars: limit, head = DEFAULT_HEAD }: Truncation): string {
  if (text.length <= limit) return text;
  const headChars = Math.floor(limit * Math.min(Math.max(head, 0), 1));
  const start = text.slice(0, isInsidePair(text, headChars) ? headChars - 1 : headChars);
  const tailAt = text.length - (limit - headChars);
  const end = text.slice(isInsidePair(text, tailAt) ? tailAt + 1 : tailAt);
  const missing = text.length - start.length - end.length;
  const shorter = `${start}\n[compacted: ${missing} characters left out]\n${end}`;
  return shorter.length < text.length ? shorter : text;
}

function isInsidePair(text: string, position: number): boolean {
  const code = text.charCodeAt(position);
  const before = text.charCodeAt(position - 1);
  return code >= 0xdc00 && code <= 0xdfff && before >= 0xd800 && before <= 0xdbff;
}

function truncateStrings(value: unknown, truncation: Truncation): unknown {
  if (typeof value === "string") return truncateText(value, truncation);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => truncateStrings(item, truncation));
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  const entries = Object.entries(value).map(([key, item]) => [key, item, truncateStrings(item, truncation)] as const);
  if (entries.every(([, item, shorter]) => item === shorter)) return value;
  return Object.fromEntries(entries.map(([key, , shorter]) => [key, shorter]));
}

/** Undefined = the value itself is too long. Texts under `attachments/` always are. */
function withoutLongTexts(value: unknown, maxChars: number): unknown {
  if (typeof value === "string") return value.length > maxChars || isMovedOut(value) ? undefined : value;
  if (typeof value !== "object" || value === null) return value;
  if ("$attachment" in value) return undefined;
  const entries = Object.entries(value).map(([key, item]) => [key, withoutLongTexts(item, maxChars), item] as const);
  if (entries.every(([, shorter, item]) => shorter === item)) return value;
  const left = entries.filter(([, shorter]) => shorter !== undefined);
  return Array.isArray(value)
    ? left.map(([, shorter]) => shorter)
    : Object.fromEntries(left.map(([key, shorter]) => [key, shorter]));
}

/** All text of a content; undefined when some of it is not loaded. */
function joinText(content: Content): string | undefined {
  const texts = listTexts(content);
  return texts.every((text) => typeof text === "string") ? texts.join("\n") : undefined;
}

function listTexts(content: Content): readonly Text[] {
  if (isText(content)) return [content];
  return content.flatMap((part) => (part.type === "text" ? [part.text] : []));
}

/** Puts one text part in place of the first one and removes the other text parts. */
function replaceText(content: Content, text: string): Content {
  if (isText(content)) return text;
  const first = content.findIndex((part) => part.type === "text");
  return content.flatMap((part, at): ContentPart[] => {
    if (part.type !== "text") return [part];
    return at === first ? [{ type: "text", text }] : [];
  });
}

function findFirstLine(content: Content): string {
  const text = joinText(content) ?? "";
  const line = /\S[^\r\n]*/.exec(text)?.[0].trimEnd() ?? "";
  return cutLine(line, FIRST_LINE_CHARS);
}

/** The arguments as JSON on one line, as far as the head reaches; "" when they are `{}`. */
function headOfArguments({ arguments: given }: ToolCallRequest): string {
  // Long texts are cut before formatting: arguments may be whole files.
  const short = (_: string, value: unknown): unknown =>
    typeof value === "string" && value.length > HEAD_CHARS ? value.slice(0, HEAD_CHARS + 1) : value;
  const json = JSON.stringify(given, short) ?? "{}";
  if (json === "{}") return "";
  return cutLine(forJson(json).replace(SEPARATORS, escapeCharacter), HEAD_CHARS);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16)}`;
}

function cutLine(line: string, limit: number): string {
  if (line.length <= limit) return line;
  return `${line.slice(0, isInsidePair(line, limit) ? limit - 1 : limit)}…`;
}
