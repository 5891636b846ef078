// The kinds of entries that jp's streams hold, and the keys of each in the order in which jp stores them.
import { isRecord, type RawLine } from "../json-line.ts";

/** A kind that is part of the conversation. */
export type TalkKind =
  | "turn_start"
  | "chat_request"
  | "chat_response"
  | "tool_call_request"
  | "tool_call_response"
  | "inquiry_request"
  | "inquiry_response";

/** `unknown` = none that jpg knows, or one that lacks what its kind needs: it is kept verbatim. */
export type StreamKind = TalkKind | "config_delta" | "compaction" | "unknown";

/** The keys of each kind between type and metadata. */
const KEYS: Readonly<Record<Exclude<StreamKind, "unknown">, readonly string[]>> = {
  turn_start: [],
  chat_request: ["content", "schema", "author"],
  chat_response: ["message", "reasoning", "data"],
  tool_call_request: ["id", "name", "arguments"],
  tool_call_response: ["id", "content", "is_error"],
  inquiry_request: ["id", "source", "question"],
  inquiry_response: ["id", "answer"],
  config_delta: ["delta"],
  compaction: ["from_turn", "to_turn", "summary", "reasoning", "tool_calls"],
};

const TALK: ReadonlySet<string> = new Set<TalkKind>([
  "turn_start",
  "chat_request",
  "chat_response",
  "tool_call_request",
  "tool_call_response",
  "inquiry_request",
  "inquiry_response",
]);

/** Whether an entry of the kind is part of the conversation: these open turns, and may have metadata. */
export function isTalk(kind: string): kind is TalkKind {
  return TALK.has(kind);
}

/** Gives the keys of a kind, in stored order. */
export function keysOf(kind: Exclude<StreamKind, "unknown">): readonly string[] {
  return KEYS[kind];
}

/** Whether a type is one that jpg knows. */
export function isKnownType(type: unknown): type is Exclude<StreamKind, "unknown"> {
  return typeof type === "string" && Object.hasOwn(KEYS, type);
}

/** Gives the kind of an entry: that of its type, where it has what that needs. */
export function kindOf(raw: RawLine): StreamKind {
  return isKnownType(raw["type"]) && findFault(raw) === null ? raw["type"] : "unknown";
}

/** Says what an entry of a known type lacks; null = nothing. */
export function findFault(raw: RawLine): string | null {
  switch (raw["type"]) {
    case "chat_request":
      return wants(raw, "content", isText, "a text");
    case "chat_response":
      return faultOfResponse(raw);
    case "tool_call_request":
      return wants(raw, "id", isText, "a text") ?? wants(raw, "name", isText, "a text") ?? faultOfArguments(raw);
    case "tool_call_response":
      return wants(raw, "id", isText, "a text") ?? wants(raw, "content", isText, "a text") ?? faultOfError(raw);
    case "inquiry_request":
    case "inquiry_response":
      return wants(raw, "id", isText, "a text");
    case "config_delta":
      return wants(raw, "delta", isRecord, "an object");
    case "compaction":
      return wants(raw, "from_turn", isPosition, "a turn") ?? wants(raw, "to_turn", isPosition, "a turn");
    default:
      return null;
  }
}

function faultOfResponse(raw: RawLine): string | null {
  const [said, ...more] = keysOf("chat_response").filter((key) => Object.hasOwn(raw, key));
  if (said === undefined || more.length > 0) return "expected one of `message`, `reasoning` and `data`";
  return said === "data" ? null : wants(raw, said, isText, "a text");
}

/** Absent = it is none. */
function faultOfError(raw: RawLine): string | null {
  return wants(raw, "is_error", (value) => value === undefined || typeof value === "boolean", "true or false");
}

function faultOfArguments(raw: RawLine): string | null {
  return wants(raw, "arguments", isRecord, "an object");
}

function wants(raw: RawLine, key: string, accepts: (value: unknown) => boolean, what: string): string | null {
  return accepts(raw[key]) ? null : `expected \`${key}\` to be ${what}`;
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isPosition(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
