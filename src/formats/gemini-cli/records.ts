// The records of a session file, in order. Today they are lines; before 2026 the file was one document with a list of messages,
// which then come as records behind the document's own fields.
import { isRecord, parseJsonLine, type RawLine, stringOf } from "../json-line.ts";
import { createParsedLines } from "../parsed-lines.ts";
import type { SessionSource } from "../session-source.ts";

/** Where a record stands. */
export interface RecordPlace {
  /** Line, 0-based; in a document 0 for its own fields, then the messages from 1 on. */
  readonly line: number;
  /** Position in the list of messages that the line holds, 0-based; absent = the line itself. */
  readonly at?: number;
}

export interface SessionRecords {
  /** Lines, or messages with the document's fields before them. */
  readonly count: number;
  /** A record of the file. A string is the reason why it is none; null is a blank line. */
  line(line: number): RawLine | string | null;
  /** The record at a place; empty where there is none. */
  at(place: RecordPlace): RawLine;
}

/** How many lines are looked at for what names a session; the first ones may be damaged. */
const LINES_LOOKED_AT = 50;

const documents = new WeakMap<SessionSource, RawLine | null>();

/** Whether a record describes a session: nothing else has both keys. */
export function isSessionHeader(record: RawLine): boolean {
  return stringOf(record, "sessionId") !== undefined && stringOf(record, "projectHash") !== undefined;
}

/** The messages that a record replaces the session's by; absent where it replaces none. */
export function listedMessages(record: RawLine): readonly unknown[] | undefined {
  const { $set: set } = record;
  const messages = isRecord(set) ? set["messages"] : isSessionHeader(record) ? record["messages"] : undefined;
  return Array.isArray(messages) ? messages : undefined;
}

/** The session of a file that is one document; null for one of lines, and for what is no session. Never throws. */
export function sessionDocument(source: SessionSource): RawLine | null {
  const known = documents.get(source);
  if (known !== undefined) return known;
  const made = readDocument(source);
  documents.set(source, made);
  return made;
}

/** The first record that describes a session; null where none of the first ones does. Never throws. */
export function findHeader(source: SessionSource): RawLine | null {
  const document = sessionDocument(source);
  if (document !== null) return document;
  for (let at = 0; at < Math.min(source.lineCount, LINES_LOOKED_AT); at++) {
    const line = source.line(at);
    const record = line.includes('"projectHash"') ? parseJsonLine(line) : null;
    if (isRecord(record) && isSessionHeader(record)) return record;
  }
  return null;
}

/** Opens the records of a file. */
export function openRecords(source: SessionSource): SessionRecords {
  const document = sessionDocument(source);
  return document === null ? openLines(source) : openDocument(document);
}

function openLines(source: SessionSource): SessionRecords {
  const lines = createParsedLines(source, parseJsonLine);
  // A list may be as long as the session: it is not parsed again for each of its messages.
  let list: { readonly line: number; readonly messages: readonly unknown[] | undefined } | null = null;
  return {
    count: source.lineCount,
    line: (line) => lines.at(line),
    at: ({ line, at }) => {
      if (at !== undefined && list?.line === line) return recordAt(list.messages, at);
      const found = lines.at(line);
      if (!isRecord(found)) return {};
      if (at === undefined) return found;
      list = { line, messages: listedMessages(found) };
      return recordAt(list.messages, at);
    },
  };
}

function openDocument(document: RawLine): SessionRecords {
  const { messages, ...fields } = document;
  const list: readonly unknown[] = Array.isArray(messages) ? messages : [];
  return {
    count: list.length + 1,
    line: (line) => {
      if (line === 0) return fields;
      const message = list[line - 1];
      return isRecord(message) ? message : "not a JSON object";
    },
    at: ({ line }) => (line === 0 ? fields : recordAt(list, line - 1)),
  };
}

function recordAt(list: readonly unknown[] | undefined, at: number): RawLine {
  const found = list?.[at];
  return isRecord(found) ? found : {};
}

/** A document is written over several lines; one whose only line holds the messages is one, too. */
function readDocument(source: SessionSource): RawLine | null {
  if (!mentionsSession(source)) return null;
  const first = firstLine(source);
  const isWhole = first !== undefined && isRecord(parseJsonLine(source.line(first)));
  if (isWhole && !isLast(source, first)) return null;
  const found = parseWhole(source);
  return found !== null && isSessionHeader(found) && Array.isArray(found["messages"]) ? found : null;
}

/** Cheap to ask of whatever file. */
function mentionsSession(source: SessionSource): boolean {
  for (let at = 0; at < Math.min(source.lineCount, LINES_LOOKED_AT); at++)
    if (source.line(at).includes('"projectHash"')) return true;
  return false;
}

function firstLine(source: SessionSource): number | undefined {
  for (let at = 0; at < source.lineCount; at++) if (source.line(at).trim() !== "") return at;
  return undefined;
}

function isLast(source: SessionSource, line: number): boolean {
  for (let at = line + 1; at < source.lineCount; at++) if (source.line(at).trim() !== "") return false;
  return true;
}

/** A text may be longer than one can be held. */
function parseWhole(source: SessionSource): RawLine | null {
  try {
    const found = parseJsonLine(source.text());
    return isRecord(found) ? found : null;
  } catch {
    return null;
  }
}
