// jp's stream: the document `events.json`, a list of entries, rewritten on each save. Nothing is believed of an entry before it
// was looked at: one that lacks what its kind needs is kept as one of no known kind. A file is parsed once, whoever asks.
import { MAX_FOREIGN_DEPTH, nestsDeeper } from "../../core/json.ts";
import { isOriginLine } from "../export-origin.ts";
import type { SkippedLine } from "../imported-session.ts";
import { isRecord, type RawLine, stringOf } from "../json-line.ts";
import type { SessionSource } from "../session-source.ts";
import { NO_DATE } from "../timestamp.ts";
import { createIdMaker } from "./entry-id.ts";
import { findFault, isKnownType, kindOf, type StreamKind } from "./entry-kind.ts";
import { readStoredTime } from "./stored-time.ts";

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
