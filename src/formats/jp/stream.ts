// jp's stream: the document `events.json`, a list of entries, rewritten on each save. Nothing is believed of an entry before it
// was looked at: one that lacks what its kind needs is kept as one of no known kind. A file is parsed once, whoever asks.
import { decodeBase64, encodeBase64, MAX_FOREIGN_DEPTH, nestsDeeper } from "../../core/json.ts";
import { deriveName, isOriginLine, type SkippedLine } from "../imported-session.ts";
import { isRecord, NO_DATE, type RawLine, type SessionSource, stringOf } from "../session-source.ts";

/** An entry that can be read. */
export interface StreamEntry {
  /** Position in the list, counted from 1. */
  readonly line: number;
  readonly kind: StreamKind;
  readonly raw: RawLine;
  /** RFC 3339 UTC; of an entry that is not dated, that of the one before. */
  readonly timestamp: string;
  /** Id of its event: the one that jpg gave it, else made of kind and time. */
  readonly id: string;
}

/** What a file holds. */
export interface Stream {
  readonly entries: readonly StreamEntry[];
  /** jpg's own entry, verbatim; null in a stream that jpg did not write. */
  readonly origin: RawLine | null;
  readonly skipped: readonly SkippedLine[];
}

const parsed = new WeakMap<SessionSource, Stream | string>();

/** Parses a file. A text is the reason why it is no stream. Never throws. */
export function parseStream(source: SessionSource): Stream | string {
  const known = parsed.get(source);
  if (known !== undefined) return known;
  const made = readStream(source);
  parsed.set(source, made);
  return made;
}

/** Whether a file begins as a list: nothing else is looked at further, it may be larger than memory allows. */
export function beginsAsList(source: SessionSource): boolean {
  for (let line = 0; line < source.lineCount; line++) {
    const text = source
      .line(line)
      .replace(/^\uFEFF/, "")
      .trimStart();
    if (text !== "") return text.startsWith("[");
  }
  return false;
}

function readStream(source: SessionSource): Stream | string {
  if (!beginsAsList(source)) return "it is no list";
  let list: unknown;
  try {
    list = JSON.parse(source.text().replace(/^\uFEFF/, ""));
  } catch {
    return source.text().trimEnd().endsWith("]") ? "it is not JSON" : "it is cut off before its end";
  }
  return Array.isArray(list) ? readEntries(list) : "it is no list";
}

function readEntries(list: readonly unknown[]): Stream {
  const entries: StreamEntry[] = [];
  const skipped: SkippedLine[] = [];
  const makeId = createIdMaker();
  let origin: RawLine | null = null;
  let timestamp = firstTime(list);
  for (const [at, raw] of list.entries()) {
    const line = at + 1;
    const fault = faultOf(raw);
    if (fault !== null) skipped.push({ line, reason: fault });
    if (!isReadable(raw)) continue;
    if (isOriginLine(raw)) {
      origin ??= raw;
      continue;
    }
    const kind = kindOf(raw);
    timestamp = readStoredTime(raw["timestamp"]) ?? timestamp;
    entries.push({ line, kind, raw, timestamp, id: makeId({ kind, raw, timestamp }) });
  }
  return { entries, origin, skipped };
}

/** Why a value is no entry of a kind that jpg knows, though it should be one; null for one of no known type. */
function faultOf(value: unknown): string | null {
  if (!isRecord(value)) return "not a JSON object";
  if (!isReadable(value)) return `nested deeper than ${MAX_FOREIGN_DEPTH} levels`;
  const fault = isKnownType(value["type"]) ? findFault(value) : null;
  return fault === null ? null : `kept as a note: ${stringOf(value, "type")}, ${fault}`;
}

function isReadable(value: unknown): value is RawLine {
  return isRecord(value) && !nestsDeeper(value, MAX_FOREIGN_DEPTH);
}

function firstTime(list: readonly unknown[]): string {
  for (const raw of list) {
    const time = isRecord(raw) ? readStoredTime(raw["timestamp"]) : undefined;
    if (time !== undefined) return time;
  }
  return NO_DATE;
}

// Ids of events. jp's entries have none: an id is made of an entry's kind and time, so that it stays the same while the stream
// grows and when jp drops other entries. What came from elsewhere carries its id in its metadata, which jp keeps.

/** The key of metadata under which jpg names an entry. */
export const ID_KEY = "jpg_id";

const LETTERS: Readonly<Record<StreamKind, string>> = {
  turn_start: "t",
  chat_request: "q",
  chat_response: "a",
  tool_call_request: "c",
  tool_call_response: "r",
  inquiry_request: "i",
  inquiry_response: "j",
  config_delta: "k",
  compaction: "z",
  unknown: "x",
};

const USABLE = /^[A-Za-z0-9_-]{1,128}$/;

/** Whether an id can stand in names, and has no dot. */
export function isUsableId(id: string): boolean {
  return USABLE.test(id);
}

/** What an id is made of. */
interface Dated {
  readonly kind: StreamKind;
  readonly raw: RawLine;
  /** RFC 3339 UTC. */
  readonly timestamp: string;
}

/** Creates what gives the entries of a stream their ids, asked in the order of the stream. */
export function createIdMaker(): (entry: Dated) => string {
  const counts = new Map<string, number>();
  const used = new Set<string>();
  return ({ kind, raw, timestamp }) => {
    const base = `${LETTERS[kind]}${timestamp.replace(/\D/g, "")}`;
    let count = counts.get(base) ?? 0;
    // Of equal length: of two compactions of one time the later wins, which is the one with the larger id.
    const own = (): string => (count === 0 ? base : `${base}-${String(count).padStart(6, "0")}`);
    while (used.has(own())) count++;
    counts.set(base, count + 1);
    const named = nameIn(kind, raw);
    const id = named === null || used.has(named) ? own() : named;
    used.add(id);
    return id;
  };
}

/** The id of the entry that an export names so: the name itself, where it can be one. */
export function idOfName(name: string): string {
  return isUsableId(name) ? name : deriveName(name);
}

function nameIn(kind: StreamKind, { metadata }: RawLine): string | null {
  const stored = isTalk(kind) && isRecord(metadata) ? metadata[ID_KEY] : undefined;
  if (typeof stored !== "string") return null;
  const name = decodeStoredText(stored);
  return isUsableId(name) ? name : null;
}

/** Whether an id is made of an entry's kind and time. */
export function isOwnId(id: string, { kind, timestamp }: Pick<Dated, "kind" | "timestamp">): boolean {
  return id.split("-")[0] === `${LETTERS[kind]}${timestamp.replace(/\D/g, "")}`;
}

/** A kind that is part of the conversation. */
type TalkKind =
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
function findFault(raw: RawLine): string | null {
  switch (raw["type"]) {
    case "chat_request":
      return checkField(raw, "content", isText, "a text");
    case "chat_response":
      return faultOfResponse(raw);
    case "tool_call_request":
      return (
        checkField(raw, "id", isText, "a text") ?? checkField(raw, "name", isText, "a text") ?? faultOfArguments(raw)
      );
    case "tool_call_response":
      return (
        checkField(raw, "id", isText, "a text") ?? checkField(raw, "content", isText, "a text") ?? faultOfError(raw)
      );
    case "inquiry_request":
    case "inquiry_response":
      return checkField(raw, "id", isText, "a text");
    case "config_delta":
      return checkField(raw, "delta", isRecord, "an object");
    case "compaction":
      return checkField(raw, "from_turn", isPosition, "a turn") ?? checkField(raw, "to_turn", isPosition, "a turn");
    default:
      return null;
  }
}

function faultOfResponse(raw: RawLine): string | null {
  const [said, ...more] = keysOf("chat_response").filter((key) => Object.hasOwn(raw, key));
  if (said === undefined || more.length > 0) return "expected one of `message`, `reasoning` and `data`";
  return said === "data" ? null : checkField(raw, said, isText, "a text");
}

/** Absent = it is none. */
function faultOfError(raw: RawLine): string | null {
  return checkField(raw, "is_error", (value) => value === undefined || typeof value === "boolean", "true or false");
}

function faultOfArguments(raw: RawLine): string | null {
  return checkField(raw, "arguments", isRecord, "an object");
}

function checkField(raw: RawLine, key: string, accepts: (value: unknown) => boolean, what: string): string | null {
  return accepts(raw[key]) ? null : `expected \`${key}\` to be ${what}`;
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isPosition(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

// The texts that jp stores as base64: what calls were given and gave back, and what its providers noted beside an event.
// Decoding is lenient, as jp's is: what is not base64 of UTF-8 stays as it is, and is encoded on the next save.

/** Has a character that only the URL-safe alphabet has, and else none but of that alphabet. */
const URL_SAFE = /^(?=.*[-_])[A-Za-z0-9_-]+={0,2}$/;
/** A JSON text that may be coded. */
const STORED = /"([A-Za-z0-9+/_-]{12,}={0,2})"/g;
const CONTROLS = /[\0-\x08\x0B\x0C\x0E-\x1F\x7F]/;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes a stored text. */
export function decodeStoredText(stored: string): string {
  return decodeUtf8(stored) ?? decodeUrlSafe(stored) ?? stored;
}

/**
 * Decodes a stored text of a file that several versions of jp may have saved: older ones wrote the URL-safe alphabet, newer ones
 * take that for plain text and encode it once more. Only a padded text is decoded twice, since a tool may well print others.
 */
export function decodeRepaired(stored: string): string {
  const text = decodeStoredText(stored);
  return text !== stored && text.endsWith("=") ? (decodeUrlSafe(text) ?? text) : text;
}

/** Gives a line of a stored stream with its longer texts decoded: nothing short is worth looking at. */
export function decodeStoredLine(line: string): string {
  return line.replace(STORED, (whole, stored: string) => {
    const text = decodeRepaired(stored);
    return text === stored ? whole : JSON.stringify(text);
  });
}

/** Encodes a text as jp stores it. */
export function encodeStoredText(text: string): string {
  return encodeBase64(new TextEncoder().encode(text));
}

/** Gives a value whose texts, keys left out, are changed; everything else stays. Its depth must be bounded. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, change)]));
}

function decodeUtf8(stored: string): string | null {
  const bytes = decodeBase64(stored);
  if (bytes === null) return null;
  try {
    return utf8.decode(bytes);
  } catch {
    return null; // bytes of something else
  }
}

function decodeUrlSafe(stored: string): string | null {
  if (!URL_SAFE.test(stored)) return null;
  const text = decodeUtf8(stored.replaceAll("-", "+").replaceAll("_", "/"));
  return text === null || CONTROLS.test(text) ? null : text;
}

// Times as jp writes them, `2026-05-04 09:00:03.5` in UTC with 1 to 9 digits of a second, and as events have them. jp reads
// RFC 3339 as well, and writes it its own way on the next save.

const TIME = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?(Z|[+-]\d\d:\d\d)?$/;

/** Reads a stored time as RFC 3339 in UTC, with 3 to 9 digits of a second; absent when it is none. */
export function readStoredTime(value: unknown): string | undefined {
  const [, date, time, fraction = "", zone = "Z"] = (typeof value === "string" && TIME.exec(value)) || [];
  const instant = date === undefined ? Number.NaN : Date.parse(`${date}T${time}${zone}`);
  if (Number.isNaN(instant)) return undefined;
  const seconds = zone === "Z" ? `${date}T${time}` : new Date(instant).toISOString().slice(0, 19);
  return `${seconds}.${trimZeros(fraction).padEnd(3, "0")}Z`;
}

/** Writes a time of an event as jp stores it. */
export function formatStoredTime(timestamp: string): string {
  const [seconds = "", fraction = ""] = timestamp.replace(/Z$/, "").split(".");
  return `${seconds.replace("T", " ")}.${trimZeros(fraction.slice(0, 9)) || "0"}`;
}

function trimZeros(fraction: string): string {
  return fraction.replace(/0+$/, "");
}
