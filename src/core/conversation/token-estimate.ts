// Estimates tokens at once, without a tokenizer: from the characters of texts, their script, and how many characters a token of
// that kind of text holds. An estimate is ours; usage is what a provider counted. Fast: adds up characters and builds no
// strings.
import { decodeBase64 } from "../json.ts";
import { decimal, forTerminal, type SafeText, safe } from "../safe-text.ts";
import { countPages } from "./attachment.ts";
import {
  type AttachmentRef,
  type ChatRequest,
  type ChatResponse,
  type Content,
  documentText,
  type Event,
  fieldsOf,
  INDEX_ORIGIN,
  isFields,
  isText,
  isTextMedia,
  isUserRequest,
  type MediaPart,
  NOTICE_ORIGIN,
  SUMMARY_ORIGIN,
  type Text,
  type View,
} from "./event.ts";
import { createTally, type TextTally, talliedTokens, tallyText, textTokens } from "./text-tokens.ts";

/**
 * Characters of ASCII text that a token holds, by kind of text. Measured against the usage that providers reported for coding
 * sessions, where one third of all characters gave 0.92 of the true count.
 */
const CHARS_PER_TOKEN = {
  /** English prose: requests, answers, reasoning. */
  prose: 4,
  /** Output of tools: paths, code, logs; many short tokens. */
  output: 3,
  /** JSON arguments of tools: punctuation and quoting; measured 2.7. */
  arguments: 2.7,
  /** Encrypted reasoning, and signatures, which hold it too: measured 7.7 where both text and signature were known. */
  encrypted: 7.7,
} as const;

/** Tokens of an image, whatever its size: providers scale images down to about this much. */
const IMAGE_TOKENS = 1600;
/** Tokens of a page of a PDF, which is sent as text and as a picture: 1,500 to 3,000. */
const PAGE_TOKENS = 2000;
/** Pages of a document of unknown length: by address or file id, stored before pages were counted, or an office file. */
const UNKNOWN_PAGES = 5;
/** UTF-8 bytes that a token holds in a text document: about as many in every script. */
const BYTES_PER_TOKEN = 4;
/** Characters of a text under `attachments/` that was not loaded and whose size is unknown: the least that is moved there. */
const ATTACHED_CHARS = 256 * 1024;

/**
 * What an event counts as. `requests`: what the user asked; `harness`: what an agent added; `system`: prompts within a conversation;
 * `summaries`, `index`: what jpg shows in place of what it hides.
 */
export type EstimateKind = keyof typeof NO_TOKENS;

/** No tokens of any kind. */
export const NO_TOKENS = {
  requests: 0,
  messages: 0,
  reasoning: 0,
  tool_calls: 0,
  tool_results: 0,
  harness: 0,
  system: 0,
  summaries: 0,
  index: 0,
};

/** Estimated tokens by kind; `total` is their sum. */
export type TokenEstimate = Readonly<Record<EstimateKind | "total", number>>;

/** Counts the tokens of texts. What has no loaded text (images, encrypted reasoning, moved texts) is estimated anyway. */
export interface TextMeasure {
  /** Tokens of a text, given the characters that a token of its kind holds. */
  text(text: string, charsPerToken: number): number;
  /** Tokens of a value as JSON, and of a name before it. */
  json(value: unknown, charsPerToken: number, name?: string): number;
}

const BY_LENGTH: TextMeasure = {
  text: textTokens,
  json(value, charsPerToken, name = "") {
    const tally = createTally();
    tallyText(tally, name);
    tallyJson(tally, value);
    return talliedTokens(tally, charsPerToken);
  },
};

/** Estimates the tokens of one event as a model is sent it, rounded up; 0 for kinds that no model sees. */
export function estimateEvent(event: Event): number {
  return measureEvent(event, BY_LENGTH);
}

/** Counts the tokens of one event as a model is sent it, rounded up; `measure` (a tokenizer) counts its texts. */
export function measureEvent(event: Event, measure: TextMeasure): number {
  switch (event.type) {
    case "chat_request":
      return Math.ceil(contentTokens(event.content, CHARS_PER_TOKEN.prose, measure));
    case "chat_response": {
      const spoken = contentTokens(event.message ?? event.reasoning ?? "", CHARS_PER_TOKEN.prose, measure);
      const data = event.data === undefined ? 0 : measure.json(event.data, CHARS_PER_TOKEN.arguments);
      return Math.ceil(spoken + data + encryptedChars(event) / CHARS_PER_TOKEN.encrypted);
    }
    case "tool_call_request":
      return Math.ceil(measure.json(event.arguments, CHARS_PER_TOKEN.arguments, event.name));
    case "tool_call_response":
      return Math.ceil(contentTokens(event.content, CHARS_PER_TOKEN.output, measure));
    default:
      return 0;
  }
}

export function estimateEvents(events: Iterable<Event>): number {
  let tokens = 0;
  for (const event of events) tokens += estimateEvent(event);
  return tokens;
}

export function estimateView(view: View): number {
  return view.turns.reduce((tokens, turn) => tokens + estimateEvents(turn.events), 0);
}

/** Counts tokens by kind; the kinds add up to what `countEvent` (default estimateEvent) returns for all. */
export function estimateByKind(
  events: Iterable<Event>,
  countEvent: (event: Event) => number = estimateEvent,
): TokenEstimate {
  const tokens = { ...NO_TOKENS, total: 0 };
  for (const event of events) {
    const kind = estimateKind(event);
    if (kind === null) continue;
    const estimate = countEvent(event);
    tokens[kind] += estimate;
    tokens.total += estimate;
  }
  return tokens;
}

/** Formats a number of tokens: `950`, `84.2k`, `1.2M`. */
export function formatTokens(tokens: number): SafeText {
  const rounded = Math.round(tokens);
  if (rounded < 1000) return safe`${rounded}`;
  // 999,950 would print as 1000.0k.
  if (rounded < 999_950) {
    // Tenths are counted in integers; at exactly half a tenth, toFixed decides by the binary fraction.
    const tenths = Math.round(rounded / 100);
    return rounded % 100 === 50
      ? safe`${decimal(rounded / 1000, 1)}k`
      : safe`${Math.floor(tenths / 10)}.${tenths % 10}k`;
  }
  return safe`${decimal(rounded / 1_000_000, 1)}M`;
}

/** Formats bytes in powers of 1000, e.g. `812 B`, `4.1 kB`. */
export function formatBytes(bytes: number): SafeText {
  const units = ["B", "kB", "MB", "GB"] as const;
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return safe`${unit === 0 || value >= 99.95 ? Math.round(value) : decimal(value, 1)} ${forTerminal(units[unit] ?? "")}`;
}

/** What an event counts as; null for kinds that no model sees. */
export function estimateKind(event: Event): EstimateKind | null {
  switch (event.type) {
    case "chat_request":
      return requestKind(event);
    case "chat_response":
      return event.reasoning === undefined ? "messages" : "reasoning";
    case "tool_call_request":
      return "tool_calls";
    case "tool_call_response":
      return "tool_results";
    default:
      return null;
  }
}

function requestKind(event: ChatRequest): EstimateKind {
  const { role = "user", metadata: { origin } = {} } = event;
  if (isUserRequest(event)) return "requests";
  if (origin === INDEX_ORIGIN || origin === NOTICE_ORIGIN) return "index";
  if (origin === SUMMARY_ORIGIN) return "summaries";
  return origin === undefined && role !== "user" ? "system" : "harness";
}

/** Reasoning whose text was withheld is sent back, and counted, through its signature. */
function encryptedChars({ reasoning, metadata }: ChatResponse): number {
  const signature = reasoning === "" && metadata?.encrypted === undefined ? metadata?.signature : undefined;
  const cipher: Text = metadata?.encrypted ?? signature ?? "";
  return typeof cipher === "string" ? cipher.length : attachedChars(cipher);
}

function contentTokens(content: Content, charsPerToken: number, measure: TextMeasure): number {
  if (isText(content)) return measureText(content, charsPerToken, measure);
  return content.reduce((tokens, part) => tokens + partTokens(part, charsPerToken, measure), 0);
}

function partTokens(part: Exclude<Content, Text>[number], charsPerToken: number, measure: TextMeasure): number {
  switch (part.type) {
    case "text":
      return measureText(part.text, charsPerToken, measure);
    case "image":
    case "document": {
      const text = documentText(part);
      return text === null ? mediaTokens(part) : measure.text(text, charsPerToken);
    }
    case "attachment":
      return measureText(part.text ?? "", charsPerToken, measure) + measure.text(part.name ?? "", charsPerToken);
    case "opaque":
      return opaqueTokens(part.value, measure);
    default:
      return 0;
  }
}

function measureText(text: Text, charsPerToken: number, measure: TextMeasure): number {
  return typeof text === "string" ? measure.text(text, charsPerToken) : attachedChars(text) / charsPerToken;
}

function attachedChars(reference: AttachmentRef): number {
  const { size } = reference as AttachmentRef & { readonly size?: unknown };
  return typeof size === "number" ? size : ATTACHED_CHARS;
}

/** Tokens of an image or a document; of an address or a file id nothing more is known. */
function mediaTokens({ type, media_type = "", data }: Pick<MediaPart, "type" | "media_type" | "data">): number {
  if (type === "image") return IMAGE_TOKENS;
  const length = data === undefined ? {} : typeof data === "string" ? encodedLength(data) : data;
  if (length.pages !== undefined) return length.pages * PAGE_TOKENS;
  const isText = length.size !== undefined && isTextMedia(media_type);
  return isText ? (length.size ?? 0) / BYTES_PER_TOKEN : UNKNOWN_PAGES * PAGE_TOKENS;
}

/** Pages or size of base64 in the event. */
function encodedLength(data: string): Pick<AttachmentRef, "pages" | "size"> {
  const bytes = decodeBase64(data) ?? decodeBase64(canonicalBase64(data));
  const pages = bytes === null ? null : countPages(bytes);
  return pages === null ? { size: bytes?.length ?? (data.length * 3) / 4 } : { pages };
}

/** Base64 with line ends, in the URL alphabet or without padding, in its canonical form. */
function canonicalBase64(data: string): string {
  const text = data
    .replace(/[\s=]+/g, "")
    .replaceAll("-", "+")
    .replaceAll("_", "/");
  return text.padEnd(Math.ceil(text.length / 4) * 4, "=");
}

/** Tokens of an opaque item: images and documents in it as such, the rest as JSON. */
function opaqueTokens(value: unknown, measure: TextMeasure): number {
  let media = 0;
  const rest = JSON.stringify(value ?? null, (_key, inner: unknown) => {
    const found = mediaIn(inner);
    if (found === null) return inner;
    media += mediaTokens(found);
    return { ...(inner as object), source: "", data: "" };
  });
  return media + measure.json(JSON.parse(rest), CHARS_PER_TOKEN.prose);
}

const NAMED_MEDIA: ReadonlySet<unknown> = new Set(["image", "document", "file", "input_image", "input_file"]);

/** An image or a document in a provider's own form, by its bytes or by a file's name; null = it is none. */
function mediaIn(value: unknown): Pick<MediaPart, "type" | "media_type" | "data"> | null {
  const fields = fieldsOf(value);
  const held = [fields["source"], fields["file"]].find(isFields) ?? fields;
  const type = String(held["media_type"] ?? held["mimeType"] ?? fields["type"]);
  const { data } = held;
  const kind = type.includes("image") ? "image" : "document";
  if (held["type"] === "base64" && data !== undefined) return { type: kind, media_type: type, data: data as Text };
  const isNamed = NAMED_MEDIA.has(fields["type"]) && typeof held["file_id"] === "string";
  return isNamed || typeof held["fileUri"] === "string" ? { type: kind } : null;
}

/** Adds a value as JSON, nearly: escapes are not counted. A payload that was moved to `attachments/` counts by its size. */
function tallyJson(tally: TextTally, value: unknown): void {
  if (typeof value === "string") {
    tallyText(tally, value);
    tally.plain += 2;
  } else if (typeof value !== "object" || value === null) tallyText(tally, String(value));
  else if (Array.isArray(value)) {
    tally.plain += 1 + value.length;
    for (const item of value) tallyJson(tally, item);
  } else if ("$attachment" in value) tally.plain += attachedChars(value as AttachmentRef);
  else {
    tally.plain += 1;
    for (const key of Object.keys(value)) {
      tally.plain += 4;
      tallyText(tally, key);
      tallyJson(tally, (value as Record<string, unknown>)[key]);
    }
  }
}

/** Renders the notice, e.g. `— context compacted (150k → 105k tokens) —`. Tokens of the whole view, before and after. */
export function renderCompacted({ before, after }: { readonly before: number; readonly after: number }): SafeText {
  return safe`— context compacted (${formatShort(before)} → ${formatShort(after)} tokens) —`;
}

/** Like formatTokens, but a round number without its zero. */
function formatShort(tokens: number): SafeText {
  return forTerminal(formatTokens(tokens).replace(/\.0(?=[kM]$)/, ""));
}

/** Formats a count with its noun for a sentence: `1 turn`, `12 turns`. */
export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
