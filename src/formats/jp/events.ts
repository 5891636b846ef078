// Converts an entry to an event with jp's names and values, except ids of calls and decoded texts. What jpg has no field for goes to
// the metadata: `jp` = jp's own, decoded; `jp_fields` = unknown fields.
import type { Event, EventMetadata } from "../../core/conversation/event.ts";
import { isRecord, type RawLine, stringOf } from "../session-source.ts";
import { ID_KEY, isTalk, keysOf, mapTexts, type StreamEntry } from "./stream.ts";

/** Key of Anthropic's reasoning signature in jp's metadata. */
export const SIGNATURE_KEY = "anthropic_thinking_signature";
/** Marks a note that holds a jp entry verbatim. */
export const JP_MARK = "jp";

/** Context for reading an entry. */
interface StreamReading {
  readonly decode: (stored: string) => string;
  /** The current model; absent = not known. */
  readonly model?: Model;
  /** Id of the answer that it belongs to. */
  readonly message?: string;
}

interface Model {
  readonly provider: string;
  readonly name: string;
}

function eventOfEntry({ kind, raw, timestamp, id }: StreamEntry, reading: StreamReading): Event {
  if (kind === "unknown") {
    const type = stringOf(raw, "type") ?? "entry";
    return { type: "note", id, timestamp, kind: type, data: raw, metadata: { format: JP_MARK } };
  }
  const known = keysOf(kind);
  const body = known.flatMap((key): [string, unknown][] => {
    if (!Object.hasOwn(raw, key)) return kind === "tool_call_response" && key === "is_error" ? [[key, false]] : [];
    return [[key === "id" ? "call_id" : key, decodeField(kind, key, { value: raw[key], decode: reading.decode })]];
  });
  const metadata = metadataOf({ kind, raw }, reading);
  const hasMetadata = Object.keys(metadata).length > 0;
  return { type: kind, id, timestamp, ...Object.fromEntries(body), ...(hasMetadata && { metadata }) } as Event;
}

function decodeField(
  kind: string,
  key: string,
  { value, decode }: { readonly value: unknown; readonly decode: StreamReading["decode"] },
): unknown {
  return isStoredText(kind, key) ? mapTexts(value, decode) : value;
}

/** Whether jp stores the texts of a field as base64. */
export function isStoredText(kind: string, key: string): boolean {
  return (kind === "tool_call_request" && key === "arguments") || (kind === "tool_call_response" && key === "content");
}

function metadataOf({ kind, raw }: Pick<StreamEntry, "kind" | "raw">, reading: StreamReading): EventMetadata {
  const { metadata: stored } = raw;
  const { [ID_KEY]: _, ...own } = isTalk(kind) && isRecord(stored) ? stored : {};
  const decoded = mapTexts(own, reading.decode) as RawLine;
  const fields = extraFields({ kind, raw });
  const signature = stringOf(decoded, SIGNATURE_KEY);
  const isAnswer = kind === "chat_response" || kind === "tool_call_request";
  const { model } = reading;
  return {
    ...(signature !== undefined && { provider: "anthropic" }),
    ...(isAnswer && model !== undefined && { provider: model.provider, model: model.name }),
    ...(isAnswer && reading.message !== undefined && { message_id: reading.message }),
    ...(signature !== undefined && { signature }),
    ...(Object.keys(decoded).length > 0 && { [JP_MARK]: decoded }),
    ...(Object.keys(fields).length > 0 && { jp_fields: fields }),
  };
}

/** Fields that jp's format does not define, kept unchanged. */
function extraFields({ kind, raw }: Pick<StreamEntry, "kind" | "raw">): RawLine {
  const known = new Set(["type", "timestamp", ...(kind === "unknown" ? [] : keysOf(kind))]);
  if (isTalk(kind) && isRecord(raw["metadata"])) known.add("metadata");
  return Object.fromEntries(Object.entries(raw).filter(([key]) => !known.has(key)));
}

/** The model that a settings change names; absent if it names none. */
function modelOfDelta(raw: RawLine): Model | undefined {
  let value: unknown = raw["delta"];
  for (const key of ["assistant", "model", "id"]) value = isRecord(value) ? value[key] : undefined;
  const [provider, name] = isRecord(value) ? [value["provider"], value["name"]] : splitModel(value);
  return typeof provider === "string" && typeof name === "string" && provider !== "" && name !== ""
    ? { provider, name }
    : undefined;
}

function splitModel(value: unknown): readonly (string | undefined)[] {
  const [, provider, name] = (typeof value === "string" && /^([^/]+)\/(.+)$/.exec(value)) || [];
  return [provider, name];
}

// Turns of a stream. A turn runs from a `turn_start` to before the next one. What is said before the first is a turn as well,
// without a start of its own; other entries belong to the turn around them.

/** Marks a turn start that jp's stream lacks. */
export const IMPLIED = "implied";

/** An overlay, and the event that it follows; absent = at the start of its turn. */
interface PlacedEntry {
  readonly entry: StreamEntry;
  readonly after?: string;
}

/** One turn, its entries in the order of the stream. */
export interface StreamTurn {
  /** Its `turn_start`; null = the stream has none. */
  readonly start: StreamEntry | null;
  readonly entries: readonly StreamEntry[];
  readonly overlays: readonly PlacedEntry[];
  readonly model: Model | undefined;
}

/** Cuts the entries of a stream into turns. Settings and compactions alone are no turn. */
export function cutStream(entries: readonly StreamEntry[]): readonly StreamTurn[] {
  const first = entries.findIndex(({ kind }) => isTalk(kind));
  if (first < 0) return entries.some(({ kind }) => kind === "unknown") ? [createTurn(null, entries)] : [];
  const starts = entries.flatMap(({ kind }, at) => (at === first || kind === "turn_start" ? [at] : []));
  const leading = entries.slice(0, first);
  let model = modelAfter(leading, undefined);
  return starts.map((at, turn) => {
    const own = entries.slice(at, starts[turn + 1]);
    const start = own[0]?.kind === "turn_start" ? own[0] : null;
    const rest = start === null ? own : own.slice(1);
    const cut = createTurn(start, turn === 0 ? [...leading, ...rest] : rest, model);
    model = modelAfter(own, model);
    return cut;
  });
}

function createTurn(start: StreamEntry | null, all: readonly StreamEntry[], model?: Model): StreamTurn {
  const entries = all.filter(({ kind }) => kind !== "compaction");
  const overlays = all.flatMap((entry, at): PlacedEntry[] => {
    if (entry.kind !== "compaction") return [];
    const before = all.slice(0, at).findLast(({ kind }) => kind !== "compaction") ?? start;
    return [{ entry, ...(before !== null && { after: before.id }) }];
  });
  return { start, entries, overlays, model };
}

/** The current model after some entries. */
function modelAfter(entries: readonly StreamEntry[], before: Model | undefined): Model | undefined {
  return entries.reduce(
    (model, { kind, raw }) => (kind === "config_delta" ? (modelOfDelta(raw) ?? model) : model),
    before,
  );
}

export function timeOfTurn({ start, entries }: StreamTurn): string {
  return (start ?? entries[0])?.timestamp ?? "";
}

/** Reads the events of a turn, `turn_start` first. */
export function readStreamTurn(turn: StreamTurn, decode: StreamReading["decode"]): readonly Event[] {
  let { model } = turn;
  let message: string | undefined;
  const events = turn.entries.map((entry) => {
    if (entry.kind === "config_delta") model = modelOfDelta(entry.raw) ?? model;
    const isAnswer = entry.kind === "chat_response" || entry.kind === "tool_call_request";
    if (isAnswer) message ??= entry.id;
    else if (isTalk(entry.kind)) message = undefined;
    return eventOfEntry(entry, {
      decode,
      model,
      message,
    });
  });
  return [startOf(turn, decode), ...events];
}

function startOf(turn: StreamTurn, decode: StreamReading["decode"]): Event {
  if (turn.start !== null) return eventOfEntry(turn.start, { decode });
  const id = `${turn.entries[0]?.id ?? "empty"}.turn`;
  return { type: "turn_start", id, timestamp: timeOfTurn(turn), metadata: { origin: IMPLIED } };
}
