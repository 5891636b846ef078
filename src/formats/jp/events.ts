// An entry as an event. Names and values are jp's, but for the ids of calls and what is decoded; what jpg has no field for stands
// in the metadata: `jp` = jp's own, decoded, `jp_fields` = fields that jpg does not know.

import type { Event, EventMetadata } from "../../core/conversation/event.ts";
import { defined } from "../../core/json.ts";
import { isRecord, type RawLine, stringOf } from "../json-line.ts";
import { ID_KEY } from "./entry-id.ts";
import { isTalk, keysOf } from "./entry-kind.ts";
import { mapTexts } from "./stored-text.ts";
import type { StreamEntry } from "./stream.ts";

/** The key of a reasoning's signature among jp's metadata: Anthropic's. */
export const SIGNATURE_KEY = "anthropic_thinking_signature";
/** Marks a note that is an entry of jp, verbatim. */
export const JP_MARK = "jp";

/** How an entry is to be read, beyond what it says itself. */
export interface StreamReading {
  readonly decode: (stored: string) => string;
  /** The model that answers there; absent = not known. */
  readonly model?: Model;
  /** The answer that it is a part of. */
  readonly message?: string;
}

/** A model by its provider. */
export interface Model {
  readonly provider: string;
  readonly name: string;
}

/** Reads the event of an entry that is no compaction. */
export function eventOfEntry({ kind, raw, timestamp, id }: StreamEntry, reading: StreamReading): Event {
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
    ...defined({ signature }),
    ...(Object.keys(decoded).length > 0 && { [JP_MARK]: decoded }),
    ...(Object.keys(fields).length > 0 && { jp_fields: fields }),
  };
}

/** What jp's own format has no field for: kept as it is. */
function extraFields({ kind, raw }: Pick<StreamEntry, "kind" | "raw">): RawLine {
  const known = new Set(["type", "timestamp", ...(kind === "unknown" ? [] : keysOf(kind))]);
  if (isTalk(kind) && isRecord(raw["metadata"])) known.add("metadata");
  return Object.fromEntries(Object.entries(raw).filter(([key]) => !known.has(key)));
}

/** The model that a change of settings names; absent where it names none. */
export function modelOfDelta(raw: RawLine): Model | undefined {
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
