// The event: the atomic, immutable record of a conversation, one JSON object a line. Unknown kinds and fields are carried
// untouched, so a value of type Event may have a `type` that is not listed here: ask `traitsOf` first.
import { decodeBase64 } from "../json.ts";

/** The role of a request; absent means `user`. */
type RequestRole = "user" | "system" | "developer";

/** A reference to a payload under `attachments/` (see attachment.ts). */
export interface AttachmentRef {
  readonly $attachment: string;
  /** The encoding of the original text; absent = UTF-8 text. */
  readonly encoding?: "base64";
  /** Pages of a PDF, roughly; absent when stored before pages were counted. */
  readonly pages?: number;
  /** Bytes of an image or another document; absent when stored before they were counted. */
  readonly size?: number;
}

/** A text, or a reference to a long one that was moved to `attachments/`. */
export type Text = string | AttachmentRef;

/** One piece of content. `opaque` holds what only its provider understands, verbatim in `value`. */
export type ContentPart =
  | { readonly type: "text"; readonly text: Text }
  | {
      readonly type: "image" | "document";
      readonly media_type?: string;
      readonly data?: Text;
      readonly url?: string;
      readonly title?: string;
    }
  | { readonly type: "attachment"; readonly name?: string; readonly text?: Text }
  | { readonly type: "opaque"; readonly provider?: string; readonly value: unknown };

export type Content = Text | readonly ContentPart[];

/** Who made an event and what it cost; always the last key of an event. */
export interface EventMetadata {
  readonly provider?: string;
  readonly model?: string;
  /** Shared by the events of one assistant message, which are consecutive. */
  readonly message_id?: string;
  /** The signature of a reasoning text, as its provider gave it. */
  readonly signature?: string;
  /** Encrypted reasoning, as its provider gave it (Anthropic redacted_thinking data, OpenAI encrypted_content). */
  readonly encrypted?: string;
  /** Provider's token counts, verbatim. */
  readonly usage?: unknown;
  /** `harness`: added by the agent's harness; `queued`: typed while the agent worked. */
  readonly origin?: "harness" | "queued" | (string & {});
  /** On a call: what its agent sends as the result while there is none. */
  readonly unanswered?: string;
  readonly [key: string]: unknown;
}

interface EventBase<Kind extends string> {
  readonly type: Kind;
  /** Unique within the conversation; imported = from the source's own id, never from position. */
  readonly id: string;
  /** RFC 3339, UTC. */
  readonly timestamp: string;
  readonly metadata?: EventMetadata;
}

export interface TurnStart extends EventBase<"turn_start"> {
  /** Object id of the turn file before this one; absent in the first turn. */
  readonly prev?: string;
}
export interface ChatRequest extends EventBase<"chat_request"> {
  readonly role?: RequestRole;
  readonly content: Content;
}
/** Exactly one of message, reasoning and data is present. */
export interface ChatResponse extends EventBase<"chat_response"> {
  readonly message?: Content;
  readonly reasoning?: Text;
  readonly data?: unknown;
}
export interface ToolCallRequest extends EventBase<"tool_call_request"> {
  readonly call_id: string;
  readonly name: string;
  readonly arguments: unknown;
}
export interface ToolCallResponse extends EventBase<"tool_call_response"> {
  readonly call_id: string;
  readonly content: Content;
  readonly is_error: boolean;
}
interface InquiryRequest extends EventBase<"inquiry_request"> {
  readonly source?: unknown;
  readonly question?: unknown;
}
interface InquiryResponse extends EventBase<"inquiry_response"> {
  readonly answer?: unknown;
}
interface ConfigDelta extends EventBase<"config_delta"> {
  /** Turn position from which it applies, 0-based. */
  readonly at_turn?: number;
  readonly delta: unknown;
}
/** The agent's own data that no model sees: progress, snapshots, microcompaction markers. */
export interface Note extends EventBase<"note"> {
  readonly kind: string;
  readonly data?: unknown;
}

export type Event =
  | TurnStart
  | ChatRequest
  | ChatResponse
  | ToolCallRequest
  | ToolCallResponse
  | InquiryRequest
  | InquiryResponse
  | ConfigDelta
  | Note;

export type EventKind = Event["type"];

/** What the rules ask of a kind, so that no rule lists kinds by name. */
interface EventTraits {
  /** A model is sent it; the coverage invariant is about exactly these. */
  readonly providerVisible: boolean;
  /** Counted as an event of the conversation (config deltas, compactions and unknown kinds are not). */
  readonly counted: boolean;
  /** Removed when a summary, replacement or omission hides its turn. */
  readonly hideable: boolean;
}

const VISIBLE: EventTraits = { providerVisible: true, counted: true, hideable: true };
const INNER: EventTraits = { providerVisible: false, counted: true, hideable: true };
const UNKNOWN: EventTraits = { providerVisible: false, counted: false, hideable: true };

const TRAITS: Readonly<Record<EventKind, EventTraits>> = {
  turn_start: INNER,
  chat_request: VISIBLE,
  chat_response: VISIBLE,
  tool_call_request: VISIBLE,
  tool_call_response: VISIBLE,
  inquiry_request: INNER,
  inquiry_response: INNER,
  config_delta: { providerVisible: false, counted: false, hideable: false },
  note: INNER,
};

/** Returns the traits of an event; unknown kinds are invisible, not counted, and hidden with their turn. */
export function traitsOf(event: Event): EventTraits {
  return Object.hasOwn(TRAITS, event.type) ? TRAITS[event.type] : UNKNOWN;
}

/** Whether reasoning policies apply to it: a chat response that carries reasoning. */
export function isReasoning(event: Event): event is ChatResponse {
  return event.type === "chat_response" && event.reasoning !== undefined;
}

/** Whether a person typed the request: not a harness, not a summary. */
export function isUserRequest(event: Event): event is ChatRequest {
  if (event.type !== "chat_request" || (event.role ?? "user") !== "user") return false;
  const origin = event.metadata?.origin;
  return origin === undefined || origin === "queued";
}

/** `metadata.origin` of the request that lists what a view hides: nobody typed it. */
export const INDEX_ORIGIN = "index";

/** `metadata.origin` of requests that a summary put into the view: nobody typed them. */
export const SUMMARY_ORIGIN = "summary";

/** `metadata.origin` of the request that tells a model how to find what is hidden: nobody typed it, and no stored view has it. */
export const NOTICE_ORIGIN = "notice";

/** Origins of requests that are nobody's message. */
const NOT_MESSAGES: ReadonlySet<string | undefined> = new Set(["harness", INDEX_ORIGIN, NOTICE_ORIGIN]);

/** Whether the chat thresholds count it as a *message*: a user's request or an assistant's message. */
export function isMessage(event: Event): boolean {
  if (event.type === "chat_response") return event.message !== undefined;
  if (event.type !== "chat_request") return false;
  return !NOT_MESSAGES.has(event.metadata?.origin);
}

/** Where a projected turn comes from. Turn positions are raw, 0-based, inclusive. */
export type Origin =
  | { readonly kind: "kept"; readonly turn: number /** only a part of the turn is shown here */; readonly part?: true }
  | {
      readonly kind: "summary" | "replacement";
      readonly from: number;
      readonly to: number;
      readonly compaction: string;
      /** Imported with a session: jpg neither wrote nor checked it. */
      readonly imported?: true;
    }
  | {
      /** The list of what the view hides, or the notice of it; it replaces nothing. */
      readonly kind: "index";
      /** Both are the last turn that it describes. */
      readonly from: number;
      readonly to: number;
      readonly compaction: string;
      readonly imported?: never;
    };

export interface ProjectedTurn {
  readonly origin: Origin;
  readonly events: readonly Event[];
}

export interface View {
  readonly turns: readonly ProjectedTurn[];
}

// The turn: a request and all events that follow until the next request. Positions are 0-based.

/** One turn. `events` is in file order; the first is normally its turn_start. */
export interface Turn {
  readonly index: number;
  readonly events: readonly Event[];
}

/** The object id of the turn file that preceded a turn when it was written, by its turn_start; null when it has none. */
export function previousTurn([first]: readonly Event[]): string | null {
  return first?.type === "turn_start" && typeof first.prev === "string" ? first.prev : null;
}

/**
 * Splits a flat stream into turns at each turn_start. Provider-visible events before the first turn_start form turn 0; anything
 * else there belongs to the first turn (docs/FORMAT.md §3).
 */
export function splitTurns(events: Iterable<Event>, isVisible: (event: Event) => boolean): Turn[] {
  const turns: Event[][] = [];
  const head: Event[] = [];
  for (const event of events) {
    if (event.type === "turn_start") turns.push([event]);
    else (turns.at(-1) ?? head).push(event);
  }
  const [first] = turns;
  if (head.some(isVisible) || (first === undefined && head.length > 0)) turns.unshift(head);
  else if (first !== undefined) turns[0] = [...first.slice(0, 1), ...head, ...first.slice(1)];
  return turns.map((list, index) => ({ index, events: list }));
}

/** A JSON object whose values are not checked yet. */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The fields of a value; none when it is no object. A list has no named ones. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

export type MediaPart = Extract<ContentPart, { readonly type: "image" | "document" }>;

export type OpaquePart = Extract<ContentPart, { readonly type: "opaque" }>;

/** Whether a content is one text, or a reference to one, and not a list of parts. */
export function isText(content: Content): content is Text {
  return !Array.isArray(content);
}

export function isMedia(part: ContentPart): part is MediaPart {
  return part.type === "image" || part.type === "document";
}

/** Returns the images and documents of a content, in order. */
export function mediaOf(content: Content): readonly MediaPart[] {
  return isText(content) ? [] : content.filter(isMedia);
}

/** Returns a text as it is. A payload that was not loaded is named, so that the model sees that something is missing. */
export function plainText(text: Text): string {
  return typeof text === "string" ? text : `[attachment ${text.$attachment}]`;
}

/** Returns the text of a content, a line for each part; leaves out what is not text. */
export function textOfContent(content: Content): string {
  if (isText(content)) return plainText(content);
  return content
    .flatMap((part) => (part.type === "text" || part.type === "attachment" ? plainText(part.text ?? "") : []))
    .join("\n");
}

/** Returns the words of a content for a title: what was typed, else the names of attachments, never their content. */
export function wordsOfContent(content: Content): string {
  if (isText(content)) return plainText(content);
  const typed = content.flatMap((part) => (part.type === "text" ? plainText(part.text) : []));
  if (typed.some((text) => text.trim() !== "")) return typed.join("\n");
  return content.flatMap((part) => (part.type === "attachment" ? (part.name ?? []) : [])).join(", ");
}

/** Returns an attachment as one text: its name, then its content; either may be missing. */
export function attachmentText({ name, text }: Extract<ContentPart, { readonly type: "attachment" }>): string {
  return [name, plainText(text ?? "")].filter(Boolean).join("\n");
}

/** Media types of text, with parameters such as `; charset=…`. */
const TEXT_MEDIA = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|x-yaml|javascript|x-ndjson|toml|sql)\b)/i;

export function isTextMedia(type: unknown): boolean {
  return typeof type === "string" && TEXT_MEDIA.test(type);
}

/** Returns the text of a text document; null for an image, and for a document whose bytes are not text or not loaded. */
export function documentText({ type, media_type, data, url }: MediaPart): string | null {
  if (type !== "document") return null;
  if (typeof data !== "string") return typeof url === "string" ? textOfUrl(url) : null;
  return isTextMedia(media_type) ? decodedText(data) : null;
}

/** The address of a picture or document for display; a data URL is only described by its length. */
export function mediaUrl(url: Text | undefined): string | undefined {
  if (typeof url !== "string") return url === undefined ? undefined : plainText(url);
  return url.startsWith("data:") ? `data URL of ${url.length} characters` : url;
}

/** Names it by its provider and its kind: `anthropic document`, `provider item`. */
export function opaqueName({ provider = "provider", value }: OpaquePart): string {
  const { type } = fieldsOf(value);
  return `${provider} ${typeof type === "string" && type !== "" ? type : "item"}`;
}

/** Keys of providers' items that hold words for people; other keys hold ids, ciphers and settings. */
const WORDS: ReadonlySet<string> = new Set(
  "title filename context caption text content source resource refusal action input query queries results executableCode codeExecutionResult code output outputs logs stdout stderr".split(
    " ",
  ),
);
const TEXT_URL = /^data:([^,]*?)(;base64)?,/;
const DEEPEST = 100;

/** Returns the readable texts of an opaque item, in order: titles, texts, text documents. */
export function opaqueTexts({ value }: OpaquePart): readonly string[] {
  const texts: string[] = [];
  // A bare string does not say what it is.
  if (typeof value !== "string") collectWords(value, texts, 0);
  return texts;
}

function collectWords(value: unknown, texts: string[], depth: number): void {
  if (typeof value === "string") texts.push(value);
  if (depth >= DEEPEST || typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) collectWords(wordsUnder(value, key, inner), texts, depth + 1);
}

/** The part of a field that may hold words; undefined = none. */
function wordsUnder(value: object, key: string, inner: unknown): unknown {
  if (Array.isArray(value) || WORDS.has(key)) return inner;
  if (key === "data") return fieldsOf(value)["type"] === "text" ? inner : undefined;
  return key === "url" && typeof inner === "string" ? textOfUrl(inner) : undefined;
}

/** The text in a data URL of text; null for any other URL. */
function textOfUrl(url: string): string | null {
  const [head = "", type = "", isBase64] = TEXT_URL.exec(url) ?? [];
  const isText = isBase64 !== undefined && isTextMedia(type === "" ? "text/plain" : type);
  return isText ? decodedText(url.slice(head.length)) : null;
}

function decodedText(base64: string): string | null {
  const bytes = decodeBase64(base64);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

/** Turn positions, 0-based, both inclusive; `from <= to` unless a function says otherwise. */
export interface TurnRange {
  readonly from: number;
  readonly to: number;
}

/** A turn range that may begin or end inside a turn. Absent event = the end turn is covered whole. */
export interface CutRange extends TurnRange {
  /** Id of the first event covered in turn `from`. */
  readonly fromEvent?: string;
  /** Id of the last event covered in turn `to`. */
  readonly toEvent?: string;
}

/** Whether two ranges share a turn. Ranges that only touch (`0..2` and `3..5`) do not. */
export function rangesIntersect(a: TurnRange, b: TurnRange): boolean {
  return a.from <= b.to && b.from <= a.to;
}

/** Whether every turn of `inner` is in `outer`; equal ranges contain each other. */
export function rangeContains(outer: TurnRange, inner: TurnRange): boolean {
  return outer.from <= inner.from && inner.to <= outer.to;
}

/** Sorts ranges, and joins those that overlap or touch. */
export function joinRuns(ranges: readonly TurnRange[]): readonly TurnRange[] {
  const joined: TurnRange[] = [];
  for (const range of [...ranges].sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last !== undefined && range.from <= last.to + 1)
      joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, range.to) };
    else joined.push(range);
  }
  return joined;
}

/** Names turns in a sentence: `turn 3`, `turns 3..7`. Raw positions, 0-based, inclusive. */
export function describeTurns(from: number, to: number): string {
  return from === to ? `turn ${from}` : `turns ${from}..${to}`;
}

/** Formats a range as `0..12`, with event bounds as `3:EVENT..12:EVENT`. */
export function formatTurnRange(range: CutRange): string {
  return `${formatEnd(range.from, range.fromEvent)}..${formatEnd(range.to, range.toEvent)}`;
}

function formatEnd(turn: number, event: string | undefined): string {
  return event === undefined ? String(turn) : `${turn}:${event}`;
}

/** Formats runs of turns as `0, 7..9`; positions are 0-based, inclusive. */
export function formatRuns(runs: readonly { readonly from: number; readonly to: number }[]): string {
  return runs.map(({ from, to }) => (from === to ? `${from}` : `${from}..${to}`)).join(", ");
}

/**
 * Counts the UTF-8 bytes, without encoding, of the texts a model is sent of an event; JSON punctuation is left out. 0 for kinds
 * no model sees.
 */
export function textBytes(event: Event): number {
  switch (event.type) {
    case "chat_request":
    case "tool_call_response":
      return bytesIn(event.content);
    case "chat_response":
      return bytesIn(event.message ?? event.reasoning ?? event.data);
    case "tool_call_request":
      return utf8Length(event.name) + bytesIn(event.arguments);
    default:
      return 0;
  }
}

function bytesIn(value: unknown): number {
  if (typeof value === "string") return utf8Length(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value).length;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((bytes, entry) => bytes + bytesIn(entry), 0);
}

const BEYOND_ASCII = /[^\0-\x7f]/;

function utf8Length(text: string): number {
  if (!BEYOND_ASCII.test(text)) return text.length;
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    // A surrogate pair is two units and four bytes, any other unit above 7FF three bytes.
    const isSurrogate = unit >= 0xd800 && unit <= 0xdfff;
    bytes += unit < 0x800 || isSurrogate ? 1 : 2;
  }
  return bytes;
}
