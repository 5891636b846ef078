// Attachments: texts too long for a line, and binary content, are stored in files of their own; the event refers to them by
// {"$attachment": name}. Invariant: inline(spill(event)) equals event, even when the event itself has such keys.
import { JpgError } from "../errors.ts";
import { decodeBase64, encodeBase64 } from "../json.ts";
import { type AttachmentRef, type ChatRequest, type ContentPart, type Event, isTextMedia } from "./event.ts";

interface AttachmentLimits {
  /** Longest string that stays in the line, in UTF-8 bytes; > 0. */
  readonly bytes: number;
  /** Unpacks the compressed streams of PDFs; absent = pages in them are estimated from the size. */
  readonly inflate?: Inflate;
}

/** Bytes to store under a name made of their digest. */
export interface AttachmentPayload {
  readonly bytes: Uint8Array;
  /** Without a dot, `[a-z0-9]+`; "" = none. */
  readonly extension: string;
}

/** The limits of format version 1 (docs/FORMAT.md §4). */
export const ATTACHMENT_LIMITS: AttachmentLimits = { bytes: 256 * 1024 };

/** Shortest base64 text worth a file, in characters: below it a file costs more than it saves. */
const BASE64_MIN_CHARS = 1024;
/** A JavaScript string of n UTF-16 units has at most 3n UTF-8 bytes. */
const MAX_BYTES_PER_UNIT = 3;
const REFERENCE = "$attachment" as const;
const ESCAPABLE = /^\$+attachment$/;
const NAME = /^[0-9a-f]{64}(\.[a-z0-9]{1,16})?$/;
/** Rules and indexes read these as plain strings, and they are short by nature: never moved out. */
const PLAIN_KEYS: ReadonlySet<string> = new Set(["type", "id", "timestamp", "call_id", "name", "kind"]);

const EXTENSIONS: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/svg+xml": "svg",
  "application/pdf": "pdf",
  "text/plain": "txt",
};

type Put = (payload: AttachmentPayload) => string;
type Json = Readonly<Record<string, unknown>>;

/**
 * Moves long strings and base64 images or documents out of an event; `put` stores a payload and returns its SHA-256 as 64 hex
 * digits. Returns the event itself when there is nothing to move.
 */
export function spill(event: Event, limits: AttachmentLimits, put: Put): Event {
  return mapEntries(event as unknown as Json, (value, key) =>
    typeof value === "string" && PLAIN_KEYS.has(key) ? value : spillValue(value, limits, put),
  ) as unknown as Event;
}

/** Puts the payloads back; `get` reads one by name, null leaves the reference. Throws `bad_attachment_name`. */
export function inline(event: Event, get: (name: string) => Uint8Array | null): Event {
  return mapEntries(event as unknown as Json, (value) => inlineValue(value, get)) as unknown as Event;
}

/**
 * Puts back what people and models read as text: long strings, and the data of text documents. Images and other documents stay
 * references and keys stay escaped, so `inline` may follow. `get` = null leaves the reference.
 */
export function inlineTexts(event: Event, get: (name: string) => Uint8Array | null): Event {
  return mapEntries(event as unknown as Json, (value) => inlineText(value, get, false)) as unknown as Event;
}

/** Returns the names of the payloads that `inlineTexts` asks for. */
export function textAttachmentsOf(event: Event): string[] {
  const names: string[] = [];
  inlineTexts(event, (name) => {
    names.push(name);
    return null;
  });
  return names;
}

/** Whether a string is too long for a line, so that the stored event refers to a file under `attachments/`. */
export function isMovedOut(text: string, limits: AttachmentLimits = ATTACHMENT_LIMITS): boolean {
  return longTextBytes(text, limits) !== null;
}

/** Whether `inline` may change an event: it refers to a payload, or has a key that looks like a reference. */
export function needsInlining(event: Event): boolean {
  return holdsMark(event as unknown as Json);
}

/** Returns the names of the payloads an event refers to, in order. Throws `bad_attachment_name`. */
export function attachmentsOf(event: Event): string[] {
  const names: string[] = [];
  for (const value of Object.values(event)) collectNames(value, names);
  return names;
}

/** Returns the path of a payload in a commit's tree, e.g. `attachments/ab/ab12….png`. Throws `bad_attachment_name`. */
export function attachmentPath(name: string): string {
  return `attachments/${checkedName(name).slice(0, 2)}/${name}`;
}

function spillValue(value: unknown, limits: AttachmentLimits, put: Put): unknown {
  if (typeof value === "string") return spillText(value, limits, put);
  if (Array.isArray(value)) return mapItems(value, (item) => spillValue(item, limits, put));
  if (!isObject(value)) return value;
  const binary = spillBase64(value, limits, put);
  return mapEntries(
    value,
    (inner, key) => (key === "data" && binary !== null ? binary : spillValue(inner, limits, put)),
    (key) => (ESCAPABLE.test(key) ? `$${key}` : key),
  );
}

function spillText(text: string, limits: AttachmentLimits, put: Put): unknown {
  const bytes = longTextBytes(text, limits);
  return bytes === null ? text : { [REFERENCE]: attachmentName(put, { bytes, extension: "txt" }) };
}

/** The bytes of a string that is moved out of its line; null when it stays. */
function longTextBytes(text: string, limits: AttachmentLimits): Uint8Array | null {
  if (text.length * MAX_BYTES_PER_UNIT <= limits.bytes) return null;
  const bytes = new TextEncoder().encode(text);
  // A lone surrogate has no UTF-8 form: such a text could not be restored.
  return bytes.length <= limits.bytes || decodeText(bytes) !== text ? null : bytes;
}

function spillBase64(part: Json, { inflate }: AttachmentLimits, put: Put): AttachmentRef | null {
  const data = part["data"];
  if (typeof data !== "string" || data.length < BASE64_MIN_CHARS || !holdsBase64(part)) return null;
  const bytes = decodeBase64(data);
  if (bytes === null) return null;
  const extension = EXTENSIONS[String(part["media_type"])] ?? "";
  const name = attachmentName(put, { bytes, extension });
  const isImage = part["type"] === "image" || /^image\//.test(String(part["media_type"]));
  return { [REFERENCE]: name, encoding: "base64", ...(isImage ? { size: bytes.length } : lengthOf(bytes, inflate)) };
}

/** What the tokens of a document are estimated from once its bytes are stored elsewhere. */
function lengthOf(bytes: Uint8Array, inflate?: Inflate): Pick<AttachmentRef, "pages" | "size"> {
  const pages = countPages(bytes, inflate);
  return pages === null ? { size: bytes.length } : { pages };
}

/** A content part of ours, or a provider's `source` object kept verbatim. */
function holdsBase64(part: Json): boolean {
  return part["type"] === "image" || part["type"] === "document" || part["type"] === "base64";
}

function attachmentName(put: Put, payload: AttachmentPayload): string {
  const digest = put(payload);
  return checkedName(payload.extension === "" ? digest : `${digest}.${payload.extension}`);
}

function inlineValue(value: unknown, get: (name: string) => Uint8Array | null): unknown {
  if (Array.isArray(value)) return mapItems(value, (item) => inlineValue(item, get));
  if (!isObject(value)) return value;
  if (typeof value[REFERENCE] === "string") {
    const bytes = get(checkedName(value[REFERENCE]));
    if (bytes === null) return value;
    return value["encoding"] === "base64" ? encodeBase64(bytes) : decodeText(bytes);
  }
  return mapEntries(
    value,
    (inner) => inlineValue(inner, get),
    (key) => (key !== REFERENCE && ESCAPABLE.test(key) ? key.slice(1) : key),
  );
}

/** `isTextData` = the value is the data of a text document. */
function inlineText(value: unknown, get: (name: string) => Uint8Array | null, isTextData: boolean): unknown {
  if (Array.isArray(value)) return mapItems(value, (item) => inlineText(item, get, false));
  if (!isObject(value)) return value;
  const name = value[REFERENCE];
  if (typeof name !== "string") {
    const hasText = value["type"] === "document" && isTextMedia(value["media_type"]);
    return mapEntries(value, (inner, key) => inlineText(inner, get, hasText && key === "data"));
  }
  const isBase64 = value["encoding"] === "base64";
  if (isBase64 ? !isTextData : !isTextName(name)) return value;
  const bytes = get(name);
  if (bytes === null) return value;
  return isBase64 ? encodeBase64(bytes) : decodeText(bytes);
}

/** A definition of a tool (`.json`) is no text of an event. */
function isTextName(name: string): boolean {
  return NAME.test(name) && !name.endsWith(".json");
}

function collectNames(value: unknown, names: string[]): void {
  if (Array.isArray(value)) for (const item of value) collectNames(item, names);
  else if (isObject(value)) {
    if (typeof value[REFERENCE] === "string") names.push(checkedName(value[REFERENCE]));
    else for (const inner of Object.values(value)) collectNames(inner, names);
  }
}

/** Also takes lists: their keys are positions. */
function holdsMark(value: Json): boolean {
  for (const key in value) {
    if (key.startsWith("$") && ESCAPABLE.test(key)) return true;
    const inner = value[key];
    if (typeof inner === "object" && inner !== null && holdsMark(inner as Json)) return true;
  }
  return false;
}

function mapItems(items: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  let copy: unknown[] | null = null;
  for (let i = 0; i < items.length; i++) {
    const changed = change(items[i]);
    if (changed !== items[i]) {
      copy ??= [...items];
      copy[i] = changed;
    }
  }
  return copy ?? items;
}

/** Keeps key order and own `__proto__` keys; returns the object itself when nothing changed. */
function mapEntries(
  object: Json,
  change: (value: unknown, key: string) => unknown,
  rename?: (key: string) => string,
): Json {
  const keys = Object.keys(object);
  let entries: [string, unknown][] | null = null;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    const value = object[key];
    const changed = change(value, key);
    const renamed = rename !== undefined && key.startsWith("$") ? rename(key) : key;
    if (entries === null && (changed !== value || renamed !== key)) {
      entries = keys.slice(0, i).map((earlier) => [earlier, object[earlier]]);
    }
    entries?.push([renamed, changed]);
  }
  return entries === null ? object : Object.fromEntries(entries);
}

function decodeText(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function checkedName(name: string): string {
  if (NAME.test(name)) return name;
  throw new JpgError(
    "repository",
    "bad_attachment_name",
    `An event names the attachment ${JSON.stringify(name.slice(0, 80))}; expected 64 hex digits and an optional extension.`,
    { hints: ["`jpg fsck` finds the event."] },
  );
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null;
}

// Counts the pages of a PDF from its bytes, roughly. A provider is sent a PDF as the text and the picture of each page, so its
// tokens follow from its pages and not from its bytes. Pure: the caller passes in `inflate`.

/** Unpacks a zlib stream; null when it is none, is damaged or gets too long. */
export type Inflate = (bytes: Uint8Array) => Uint8Array | null;

/** Readers accept the PDF mark within so many bytes of the start. */
const MARK_WITHIN = 1024;
/** Bytes of a page with fonts and a picture, for a PDF whose pages cannot be found (encrypted or damaged). */
const PAGE_BYTES = 50_000;
/** No page takes fewer bytes: bounds the count that a damaged file declares. */
const LEAST_PAGE_BYTES = 100;
/** Limits on unpacked object streams: their number, and bytes in all. A PDF of a thousand pages has a hundred streams of 50 kB. */
const MOST_STREAMS = 5000;
const MOST_UNPACKED = 64 * 1024 * 1024;

const PAGE = /\/Type\s*\/Page(?![A-Za-z])/g;
const PAGE_TREE = /\/Type\s*\/Pages(?![A-Za-z])/g;
const OBJECT_STREAM = /\/Type\s*\/ObjStm(?![A-Za-z])/g;

/**
 * Counts the pages of a PDF, 1 or more; null when the bytes are none. Pages are plain in the file or in compressed object
 * streams; where these cannot be unpacked or nothing is found, estimates from the file's size.
 */
export function countPages(bytes: Uint8Array, inflate: Inflate = () => null): number | null {
  // One byte, one character: positions in the text are positions in the bytes.
  const text = new TextDecoder("latin1").decode(bytes);
  if (!text.slice(0, MARK_WITHIN).includes("%PDF-")) return null;
  const { texts, isWhole } = unpackObjects(text, bytes, inflate);
  const all = [text, ...texts];
  const pages = all.reduce((sum, one) => sum + [...one.matchAll(PAGE)].length, 0);
  const declared = Math.max(0, ...all.flatMap(declaredCounts));
  const most = Math.max(1, Math.floor(bytes.length / LEAST_PAGE_BYTES));
  let found = Math.max(pages, Math.min(declared, most));
  // A page that was changed is in the file twice.
  if (isWhole && pages > 0) found = declared > 0 ? Math.min(pages, declared) : pages;
  return found > 0 ? found : Math.max(1, Math.round(bytes.length / PAGE_BYTES));
}

/** The content of the compressed object streams; `isWhole` = all of them were unpacked. */
function unpackObjects(
  text: string,
  bytes: Uint8Array,
  inflate: Inflate,
): { readonly texts: readonly string[]; readonly isWhole: boolean } {
  const texts: string[] = [];
  let [left, isWhole] = [MOST_UNPACKED, true];
  for (const { index } of text.matchAll(OBJECT_STREAM)) {
    const place = streamAt(text, index);
    // A stream that is not compressed is part of the file's text already.
    if (place?.isPacked === false) continue;
    const isTooMuch = left <= 0 || texts.length >= MOST_STREAMS;
    const unpacked = place === null || isTooMuch ? null : inflate(bytes.subarray(place.start, place.end));
    if (unpacked === null) isWhole = false;
    else {
      left -= unpacked.length;
      texts.push(new TextDecoder("latin1").decode(unpacked));
    }
  }
  return { texts, isWhole };
}

interface StreamPlace {
  readonly start: number;
  readonly end: number;
  readonly isPacked: boolean;
}

/** The stream of the object whose dictionary is around a position. */
function streamAt(text: string, at: number): StreamPlace | null {
  const mark = text.indexOf("stream", at);
  const end = text.indexOf("endstream", at);
  if (mark < 0 || end <= mark) return null;
  const dictionary = text.slice(text.lastIndexOf("obj", at), mark);
  const start = mark + "stream".length + (text.startsWith("\r\n", mark + "stream".length) ? 2 : 1);
  return { start, end, isPacked: dictionary.includes("/Filter") };
}

/** The page counts that the nodes of page trees declare, among them the root's, which is the total. */
function declaredCounts(text: string): readonly number[] {
  return [...text.matchAll(PAGE_TREE)].flatMap(({ index, 0: { length } }) => {
    // The count is before or after the type, with no other object between.
    const next = text.indexOf("/Type", index + length);
    const before = text.slice(text.lastIndexOf("/Type", index - 1) + 1, index);
    const after = text.slice(index + length, next < 0 ? undefined : next);
    const count = /\/Count\s+(\d+)/.exec(after) ?? /\/Count\s+(\d+)(?!.*\/Count)/s.exec(before);
    return count === null ? [] : [Number(count[1])];
  });
}

/** Replaces image, document and attachment parts of a request by stubs; returns the request itself when it has none. */
export function stubAttachments(request: ChatRequest): ChatRequest {
  const { content } = request;
  if (!Array.isArray(content)) return request;
  const parts: readonly ContentPart[] = content;
  const stripped = parts.map(stripPart);
  return stripped.every((part, at) => part === parts[at]) ? request : { ...request, content: stripped };
}

function stripPart(part: ContentPart): ContentPart {
  switch (part.type) {
    case "image":
    case "document":
      return stub(part.type, part.title ?? part.media_type);
    case "attachment":
      return stub(part.type, part.name);
    default:
      return part;
  }
}

function stub(kind: string, label: string | undefined): ContentPart {
  return { type: "text", text: label === undefined ? `[compacted] ${kind}` : `[compacted] ${kind}: ${label}` };
}
