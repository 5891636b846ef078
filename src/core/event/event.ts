// The event: the atomic, immutable record of a conversation, one JSON object a line. Unknown kinds and fields are
// carried untouched, so a value of type Event may hold a `type` that is not listed here: ask `traitsOf` first.

/** The role of a request; absent means `user`. */
export type RequestRole = "user" | "system" | "developer";

/** A reference to a payload kept under `attachments/` (see attachment.ts). */
export interface AttachmentRef {
  readonly $attachment: string;
  /** How the bytes stand in the original text; absent = UTF-8 text. */
  readonly encoding?: "base64";
  /** Pages of a PDF, roughly; absent of what was stored before they were counted. */
  readonly pages?: number;
  /** Bytes of another document. */
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
  /** Events of one assistant message share it and stand together. */
  readonly message_id?: string;
  /** The signature of a reasoning text, as its provider gave it. */
  readonly signature?: string;
  /** Encrypted reasoning, as its provider gave it (Anthropic redacted_thinking data, OpenAI encrypted_content). */
  readonly encrypted?: string;
  /** Provider's token counts, verbatim. */
  readonly usage?: unknown;
  /** `harness`: put in and sent by the agent's harness; `queued`: typed while the agent worked. */
  readonly origin?: "harness" | "queued" | (string & {});
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
export interface InquiryRequest extends EventBase<"inquiry_request"> {
  readonly source?: unknown;
  readonly question?: unknown;
}
export interface InquiryResponse extends EventBase<"inquiry_response"> {
  readonly answer?: unknown;
}
export interface ConfigDelta extends EventBase<"config_delta"> {
  /** Turn position from which it holds, 0-based. */
  readonly at_turn?: number;
  readonly delta: unknown;
}
/** Agent side data that no model sees: progress, snapshots, microcompaction markers. */
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
export interface EventTraits {
  /** A model is sent it; the coverage invariant speaks of exactly these. */
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

/** Gives the traits of an event; unknown kinds are invisible, not counted, and hidden with their turn. */
export function traitsOf(event: Event): EventTraits {
  return Object.hasOwn(TRAITS, event.type) ? TRAITS[event.type] : UNKNOWN;
}

/** The content type of reasoning policies: a chat response that carries reasoning. */
export function isReasoning(event: Event): event is ChatResponse {
  return event.type === "chat_response" && event.reasoning !== undefined;
}

/** Whether it is a request that a person typed: not put there by a harness or a summary. */
export function isUserRequest(event: Event): event is ChatRequest {
  if (event.type !== "chat_request" || (event.role ?? "user") !== "user") return false;
  const origin = event.metadata?.origin;
  return origin === undefined || origin === "queued";
}

/** `metadata.origin` of the request that lists what a view hides: nobody typed it. */
export const INDEX_ORIGIN = "index";

/** `metadata.origin` of the request that tells a model how what is hidden is found: nobody typed it, and no stored view has it. */
export const NOTICE_ORIGIN = "notice";

/** Origins of requests that are no message of anybody. */
const UNSAID: ReadonlySet<string | undefined> = new Set(["harness", INDEX_ORIGIN, NOTICE_ORIGIN]);

/** Whether it counts as a *message* of the chat thresholds: a user's request or an assistant's message. */
export function isMessage(event: Event): boolean {
  if (event.type === "chat_response") return event.message !== undefined;
  if (event.type !== "chat_request") return false;
  return !UNSAID.has(event.metadata?.origin);
}
