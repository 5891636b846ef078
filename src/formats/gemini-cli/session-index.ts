// First pass over the records of a session: follows what each does to the agent's list of messages. No text is kept. What is
// known of a record never depends on later ones: a file that grows only adds.
import { defined } from "../../core/json.ts";
import { isOriginLine } from "../export-origin.ts";
import type { SkippedLine } from "../imported-session.ts";
import { isRecord, type RawLine, recordOf, stringOf } from "../json-line.ts";
import { NO_DATE, readTimestamp } from "../timestamp.ts";
import { directoryIn } from "./harness-text.ts";
import { type History, note, startHistory } from "./history.ts";
import { messageParts } from "./message-pieces.ts";
import { isSessionHeader, listedMessages, type RecordPlace, type SessionRecords } from "./records.ts";
import { goBack, takeList, takeMessage } from "./take-records.ts";

export interface GeminiIndex {
  readonly history: History;
  /** RFC 3339 UTC. */
  readonly createdAt: string;
  readonly cwd?: string;
  /** Titles that the agent gave, oldest first. */
  readonly titles: readonly { readonly line: number; readonly timestamp: string; readonly title: string }[];
  readonly skipped: readonly SkippedLine[];
  /** Ids of all messages of the file. */
  readonly ids: ReadonlySet<string>;
}

interface Reader {
  readonly history: History;
  readonly titles: { readonly line: number; readonly timestamp: string; readonly title: string }[];
  readonly skipped: SkippedLine[];
  readonly ids: Set<string>;
  createdAt?: string | undefined;
  cwd?: string | undefined;
  /** Whether the agent has just opened the session and told nothing yet. */
  isOpened: boolean;
  /** Messages that may be old ones, told again before the list that holds them; null = none are. */
  again: { readonly id: string; readonly record: RawLine; readonly place: RecordPlace }[] | null;
}

/** Indexes the records of a session. */
export function indexRecords(records: SessionRecords, session: string): GeminiIndex {
  const reader: Reader = {
    history: startHistory(records, session, NO_DATE),
    titles: [],
    skipped: [],
    ids: new Set(),
    isOpened: false,
    again: null,
  };
  for (let line = 0; line < records.count; line++) {
    const record = records.line(line);
    if (typeof record === "string") reader.skipped.push({ line: line + 1, reason: record });
    else if (record !== null) readRecord(reader, record, line);
  }
  const { history, titles, skipped, ids, createdAt = history.timestamp, cwd } = reader;
  return { history, createdAt, ...defined({ cwd }), titles, skipped, ids };
}

/** In the order in which the agent asks what a record is. */
function readRecord(reader: Reader, record: RawLine, line: number): void {
  const { history } = reader;
  const rewound = stringOf(record, "$rewindTo");
  const id = stringOf(record, "id");
  if (rewound !== undefined) {
    tellAgain(reader);
    goBack(history, rewound, { line });
  } else if (id !== undefined) readMessage(reader, record, { id, line });
  else if (recordOf(record, "$set") !== undefined || isSessionHeader(record)) readData(reader, record, line);
  else if (!isOriginLine(record)) note(history, { line }, record);
}

function readMessage(
  reader: Reader,
  record: RawLine,
  { id, line }: { readonly id: string; readonly line: number },
): void {
  const { history, ids } = reader;
  const message = { id, record, place: { line } };
  ids.add(id);
  reader.isOpened = false;
  reader.createdAt ??= readTimestamp(record["timestamp"]);
  if (isSurroundings(record)) {
    reader.cwd ??= directoryOf(record);
    if (history.sent.length > 0) reader.again = [];
    else takeMessage(history, message);
  } else if (reader.again !== null && stringOf(record, "model") === undefined) reader.again.push(message);
  else {
    tellAgain(reader);
    if (record["type"] === "user" || record["type"] === "gemini") takeMessage(history, message);
    else takeNote(reader, record, message.id, line);
  }
}

/** What a model answers is nothing old: nor was what stands before it. */
function tellAgain(reader: Reader): void {
  const { again, history } = reader;
  reader.again = null;
  for (const message of again ?? []) takeMessage(history, message);
}

/** A message that only the agent's display shows: its place in the list is one that the user may go back to. */
function takeNote({ history }: Reader, record: RawLine, id: string, line: number): void {
  const { list, sent } = history;
  if (!list.has(id)) list.set(id, { start: sent.length, end: sent.length });
  note(history, { line }, record, id);
}

/** Fields of the session, and perhaps a list of its messages. */
function readData(reader: Reader, record: RawLine, line: number): void {
  const { history, titles, ids } = reader;
  const set = recordOf(record, "$set") ?? record;
  history.timestamp = readTimestamp(set["lastUpdated"]) ?? readTimestamp(set["startTime"]) ?? history.timestamp;
  reader.createdAt ??= readTimestamp(set["startTime"]);
  const title = stringOf(set, "summary");
  if (title !== undefined) titles.push({ line, timestamp: history.timestamp, title });
  const messages = listedMessages(record);
  for (const message of messages ?? []) {
    if (!isRecord(message)) continue;
    ids.add(stringOf(message, "id") ?? "");
    reader.cwd ??= directoryOf(message);
  }
  if (isSessionHeader(record)) readHeader(reader, record, line);
  else if (Object.keys(set).some((key) => !KNOWN.has(key))) note(history, { line }, record);
  if (messages === undefined) return;
  reader.again = null;
  // A session that is opened again begins with an empty list, and is filled with what it held.
  if (!reader.isOpened || messages.some((message) => isRecord(message) && !isSurroundings(message)))
    takeList(history, messages, { line });
  reader.isOpened = false;
}

const KNOWN: ReadonlySet<string> = new Set(["sessionId", "lastUpdated", "messages", "summary", "directories"]);

function readHeader(reader: Reader, header: RawLine, line: number): void {
  const { history } = reader;
  const { directories } = header;
  if (Array.isArray(directories) && typeof directories[0] === "string") reader.cwd ??= directories[0];
  if (header["kind"] === "subagent" && !reader.isOpened && history.order === 0) note(history, { line }, header);
  reader.isOpened = true;
}

function isSurroundings(message: RawLine): boolean {
  return message["type"] === "user" && /^\s*<session_context>/.test(textOf(message));
}

function directoryOf(message: RawLine): string | undefined {
  return message["type"] === "user" ? directoryIn(textOf(message)) : undefined;
}

function textOf(message: RawLine): string {
  return stringOf(messageParts(message["content"])[0] ?? {}, "text") ?? "";
}
