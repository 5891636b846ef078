// jp's stream: the document `events.json`, a list of entries, rewritten on each save. Entries are validated: one that lacks what its
// kind needs is kept as of unknown kind. A file is parsed once.
import { decodeBase64, encodeBase64, MAX_FOREIGN_DEPTH, nestsDeeper } from "../../core/json.ts";
import { deriveName, isOriginLine, type SkippedLine } from "../imported-session.ts";
import { isRecord, NO_DATE, type RawLine, type SessionSource, stringOf } from "../session-source.ts";

/** An entry that can be read. */
export interface StreamEntry {
  /** Position in the list, counted from 1. */
  readonly line: number;
  readonly kind: StreamKind;
  readonly raw: RawLine;
  /** RFC 3339 UTC; that of the previous entry if it has none. */
  readonly timestamp: string;
  /** Id of its event: the one that jpg gave it, else derived from kind and time. */
  readonly id: string;
}

export interface Stream {
  readonly entries: readonly StreamEntry[];
  /** jpg's own entry, verbatim; null in a stream that jpg did not write. */
  readonly origin: RawLine | null;
  readonly skipped: readonly SkippedLine[];
}

const parsed = new WeakMap<SessionSource, Stream | string>();

/** Parses a file. A string says why it is no stream. Never throws. */
export function parseStream(source: SessionSource): Stream | string {
  const known = parsed.get(source);
  if (known !== undefined) return known;
  const made = readStream(source);
  parsed.set(source, made);
  return made;
}

/** Whether a file begins as a list: any other is not read further, it may not fit in memory. */
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

/** What is wrong with an entry of a known kind; null if nothing is, or if the kind is unknown. */
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

// Ids of events. jp's entries have none, so an id derives from an entry's kind and time: it stays the same while the stream grows,
// and when jp drops other entries. Entries from elsewhere carry their id in their metadata, which jp keeps.

/** Metadata key of jpg's id. */
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

/** Whether an id is usable in names, and has no dot. */
export function isUsableId(id: string): boolean {
  return USABLE.test(id);
}

/** What an id derives from. */
interface Dated {
  readonly kind: StreamKind;
  readonly raw: RawLine;
  /** RFC 3339 UTC. */
  readonly timestamp: string;
}

/** Creates a function that assigns ids; it must see the entries in stream order. */
export function createIdMaker(): (entry: Dated) => string {
  const counts = new Map<string, number>();
  const used = new Set<string>();
  return ({ kind, raw, timestamp }) => {
    const base = `${LETTERS[kind]}${timestamp.replace(/\D/g, "")}`;
    let count = counts.get(base) ?? 0;
    // Of equal length: of two compactions with one time the later wins, which has the larger id.
    const own = (): string => (count === 0 ? base : `${base}-${String(count).padStart(6, "0")}`);
    while (used.has(own())) count++;
    counts.set(base, count + 1);
    const named = nameIn(kind, raw);
    const id = named === null || used.has(named) ? own() : named;
    used.add(id);
    return id;
  };
}

/** The id of an exported entry: its name, if usable. */
export function idOfName(name: string): string {
  return isUsableId(name) ? name : deriveName(name);
}

function nameIn(kind: StreamKind, { metadata }: RawLine): string | null {
  const stored = isTalk(kind) && isRecord(metadata) ? metadata[ID_KEY] : undefined;
  if (typeof stored !== "string") return null;
  const name = decodeStoredText(stored);
  return isUsableId(name) ? name : null;
}

/** Whether an id derives from kind and time. */
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

/** `unknown` = not known to jpg, or lacking what its kind needs: kept verbatim. */
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

/** Whether entries of the kind are part of the conversation: these open turns, and may have metadata. */
export function isTalk(kind: string): kind is TalkKind {
  return TALK.has(kind);
}

/** The keys of a kind, in stored order. */
export function keysOf(kind: Exclude<StreamKind, "unknown">): readonly string[] {
  return KEYS[kind];
}

export function isKnownType(type: unknown): type is Exclude<StreamKind, "unknown"> {
  return typeof type === "string" && Object.hasOwn(KEYS, type);
}

/** The kind of an entry: its type, if it has what that needs. */
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

// jp stores some texts as base64: arguments and results of calls, and provider metadata. Decoding is lenient, like jp's: what is not
// base64 of UTF-8 stays as it is, and is encoded on the next save.

/** URL-safe base64 with at least one `-` or `_`. */
const URL_SAFE = /^(?=.*[-_])[A-Za-z0-9_-]+={0,2}$/;
/** A JSON string that may be base64. */
const STORED = /"([A-Za-z0-9+/_-]{12,}={0,2})"/g;
const CONTROLS = /[\0-\x08\x0B\x0C\x0E-\x1F\x7F]/;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes a stored text. */
export function decodeStoredText(stored: string): string {
  return decodeUtf8(stored) ?? decodeUrlSafe(stored) ?? stored;
}

/**
 * Decodes a stored text of a file that several versions of jp may have saved: older ones wrote URL-safe base64; newer ones take
 * that for plain text and encode it again. Only padded text is decoded twice, since a tool may print others.
 */
export function decodeRepaired(stored: string): string {
  const text = decodeStoredText(stored);
  return text !== stored && text.endsWith("=") ? (decodeUrlSafe(text) ?? text) : text;
}

/** Decodes the longer texts in a line of a stored stream; short ones hold no secrets. */
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

/** Changes all texts of a value, keys excepted. Its depth must be bounded. */
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

// Times as jp writes them, `2026-05-04 09:00:03.5` in UTC with 1 to 9 fraction digits, and as events have them. jp also reads RFC
// 3339, and writes its own form on the next save.

const TIME = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?(Z|[+-]\d\d:\d\d)?$/;

/** Reads a stored time as RFC 3339 in UTC, with 3 to 9 fraction digits; absent for any other value. */
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
