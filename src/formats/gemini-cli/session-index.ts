// First pass over a session's records: follows what each does to the agent's list of messages. Keeps no text. Nothing depends on
// later records: a file that grows only adds.
import { appendAll } from "../../core/lists.ts";
import { isOriginLine, type SkippedLine } from "../imported-session.ts";
import { isRecord, NO_DATE, type RawLine, readTimestamp, recordOf, stringOf } from "../session-source.ts";
import { directoryIn, type MessagePiece, messageParts } from "./events.ts";
import {
  addToTurns,
  createTurnBuilder,
  eventId,
  flushHeld,
  isSessionHeader,
  listedMessages,
  messageEventId,
  type RecordPlace,
  rewindTurns,
  type SessionRecords,
  type TurnBuilder,
  type TurnEntry,
  type TurnEntryKind,
} from "./records.ts";
import {
  type Change,
  commonEnd,
  commonStart,
  type ListedMessage,
  partsOfMessage,
  type SaidPart,
  type SentPart,
  trimChanges,
} from "./sent-parts.ts";

export interface GeminiIndex {
  readonly history: History;
  /** RFC 3339 UTC. */
  readonly createdAt: string;
  readonly cwd?: string;
  /** Titles that the agent gave, oldest first. */
  readonly titles: readonly { readonly line: number; readonly timestamp: string; readonly title: string }[];
  readonly skipped: readonly SkippedLine[];
  /** Ids of all messages. */
  readonly ids: ReadonlySet<string>;
}

interface Reader {
  readonly history: History;
  readonly titles: { readonly line: number; readonly timestamp: string; readonly title: string }[];
  readonly skipped: SkippedLine[];
  readonly ids: Set<string>;
  createdAt?: string | undefined;
  cwd?: string | undefined;
  /** Whether the agent has just opened the session and written no message yet. */
  isOpened: boolean;
  /** Messages that may be old ones, written again before the list that holds them; null = none are. */
  pending: { readonly id: string; readonly record: RawLine; readonly place: RecordPlace }[] | null;
}

/** Indexes the records of a session. */
export function indexRecords(records: SessionRecords, session: string): GeminiIndex {
  const reader: Reader = {
    history: startHistory(records, session, NO_DATE),
    titles: [],
    skipped: [],
    ids: new Set(),
    isOpened: false,
    pending: null,
  };
  for (let line = 0; line < records.count; line++) {
    const record = records.line(line);
    if (typeof record === "string") reader.skipped.push({ line: line + 1, reason: record });
    else if (record !== null) readRecord(reader, record, line);
  }
  const { history, titles, skipped, ids, createdAt = history.timestamp, cwd } = reader;
  return { history, createdAt, cwd, titles, skipped, ids };
}

/** Checks in the agent's own order. */
function readRecord(reader: Reader, record: RawLine, line: number): void {
  const { history } = reader;
  const rewound = stringOf(record, "$rewindTo");
  const id = stringOf(record, "id");
  if (rewound !== undefined) {
    takePending(reader);
    rewind(history, rewound, { line });
  } else if (id !== undefined) readMessage(reader, record, { id, line });
  else if (recordOf(record, "$set") !== undefined || isSessionHeader(record)) readData(reader, record, line);
  else if (!isOriginLine(record)) addNote(history, { line }, record);
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
    if (history.sent.length > 0) reader.pending = [];
    else applyMessage(history, message);
  } else if (reader.pending !== null && stringOf(record, "model") === undefined) reader.pending.push(message);
  else {
    takePending(reader);
    if (record["type"] === "user" || record["type"] === "gemini") applyMessage(history, message);
    else addDisplayMessage(reader, record, message.id, line);
  }
}

/** A model's answer is never an old message, so neither are the pending ones before it. */
function takePending(reader: Reader): void {
  const { pending, history } = reader;
  reader.pending = null;
  for (const message of pending ?? []) applyMessage(history, message);
}

/** A message that is only displayed: its place in the list is one that the user may rewind to. */
function addDisplayMessage({ history }: Reader, record: RawLine, id: string, line: number): void {
  const { list, sent } = history;
  if (!list.has(id)) list.set(id, { start: sent.length, end: sent.length });
  addNote(history, { line }, record, id);
}

/** Reads fields of the session, and its list of messages if there is one. */
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
  else if (Object.keys(set).some((key) => !KNOWN.has(key))) addNote(history, { line }, record);
  if (messages === undefined) return;
  reader.pending = null;
  // A session that is opened again begins with an empty list, then gets its old messages.
  if (!reader.isOpened || messages.some((message) => isRecord(message) && !isSurroundings(message)))
    applyList(history, messages, { line });
  reader.isOpened = false;
}

const KNOWN: ReadonlySet<string> = new Set(["sessionId", "lastUpdated", "messages", "summary", "directories"]);

function readHeader(reader: Reader, header: RawLine, line: number): void {
  const { history } = reader;
  const { directories } = header;
  if (Array.isArray(directories) && typeof directories[0] === "string") reader.cwd ??= directories[0];
  if (header["kind"] === "subagent" && !reader.isOpened && history.order === 0) addNote(history, { line }, header);
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

/** State that each record changes. */
interface History {
  readonly records: SessionRecords;
  readonly session: string;
  readonly turns: TurnBuilder;
  /** Changes to the agent's list, oldest first. */
  changes: Change[];
  sent: SentPart[];
  /** Positions of each listed message's parts in `sent`, `[start, end)`. */
  list: Map<string, { readonly start: number; readonly end: number }>;
  /** The pieces of each message that became events. */
  readonly imported: Map<string, Set<string>>;
  /** Number of entries so far. */
  order: number;
  /** RFC 3339 UTC, of the newest dated record. */
  timestamp: string;
}

function startHistory(records: SessionRecords, session: string, timestamp: string): History {
  const nothing = { turns: createTurnBuilder(), changes: [], sent: [], list: new Map(), imported: new Map() };
  return { records, session, ...nothing, order: 0, timestamp };
}

/**
 * Makes an entry of the pieces that are not imported yet; null if all are. With `base`, the id of its events, none count as
 * imported: an earlier message only has the same id.
 */
function addPieces(
  history: History,
  { id, place, record }: ListedMessage,
  pieces: readonly MessagePiece[],
  base: string = messageEventId(id),
): TurnEntry | null {
  const imported = base === messageEventId(id) ? history.imported.get(id) : undefined;
  const fresh = pieces.filter(({ name }) => imported?.has(name) !== true);
  if (fresh.length === 0) return null;
  for (const { name } of fresh) markImported(history, id, name);
  const kind = kindOf(fresh);
  const names = fresh.map(({ name }) => name);
  const timestamp = timeOfRecord(history, record);
  const entry = { place, kind, order: history.order++, message: id, base, names, timestamp };
  addToTurns(history.turns, entry);
  return entry;
}

function markImported({ imported }: History, message: string, name: string): void {
  const names = imported.get(message);
  if (names === undefined) imported.set(message, new Set([name]));
  else names.add(name);
}

/** Adds what no model sees: a record without an id of its own, or a message that is only displayed. */
function addNote(history: History, place: RecordPlace, record: RawLine, id?: string): void {
  const message = id ?? idOfPlace(history, place);
  const isImported = history.imported.has(message);
  const base = id === undefined || isImported ? idOfPlace(history, place) : messageEventId(id);
  const timestamp = timeOfRecord(history, record);
  if (id !== undefined) markImported(history, id, "");
  addToTurns(history.turns, { place, kind: "note", order: history.order++, message, base, names: [], timestamp });
}

/** Makes an id from a record's place, for records without one. */
function idOfPlace({ session }: Pick<History, "session">, { line, at }: RecordPlace): string {
  return `${line}${at === undefined ? "" : `-${at}`}-${session.replaceAll(".", "_")}`;
}

/** The time of a record; without one, that of the newest dated record. */
function timeOfRecord(history: History, record: RawLine): string {
  const time = readTimestamp(record["timestamp"]);
  if (time !== undefined) history.timestamp = time;
  return time ?? history.timestamp;
}

function kindOf(pieces: readonly MessagePiece[]): TurnEntryKind {
  const voice = pieces.find((piece) => piece.voice !== undefined)?.voice;
  if (voice === "user") return "prompt";
  if (voice === "context") return "context";
  return voice === "surroundings" || pieces.every(({ body }) => body.type === "note") ? "note" : "said";
}

/** Applies a message: a new one, or a known one with more in it or with other words. */
function applyMessage(history: History, message: ListedMessage): void {
  const { sent, list } = history;
  const { start, end } = list.get(message.id) ?? { start: sent.length, end: sent.length };
  const { said, pieces } = partsOfMessage(message, sent, start);
  const held = end - start;
  const splits = held > 0 && said[held]?.name === said[held - 1]?.name;
  if (end === sent.length && !splits && commonStart(said, sent.slice(start)) === held) {
    appendAll(sent, toSent(said.slice(held), addPieces(history, message, pieces)));
    list.set(message.id, { start, end: sent.length });
    return;
  }
  reconcile(history, [...sent.slice(0, start), ...said, ...sent.slice(end)], { place: message.place });
  addPieces(
    history,
    message,
    pieces.filter(({ parts }) => parts.length === 0),
  );
  rebuildList(history);
}

/** Applies a list that replaces the agent's. */
function applyList(history: History, messages: readonly unknown[], place: RecordPlace): void {
  const said: SaidPart[] = [];
  const ends: [id: string, end: number][] = [];
  for (const [at, record] of messages.entries()) {
    const id = isRecord(record) ? stringOf(record, "id") : undefined;
    if (id === undefined || !isRecord(record)) continue;
    const message = { id, record, place: { ...place, at } };
    appendAll(said, partsOfMessage(message, said, said.length).said);
    ends.push([id, said.length]);
  }
  reconcile(history, said, { place });
  let start = 0;
  const list: History["list"] = new Map();
  for (const [id, end] of ends) {
    list.set(id, { start, end });
    start = end;
  }
  history.list = list;
}

/** Rewinds to before a message; if it is unknown, the agent sends nothing any more. */
function rewind(history: History, id: string, place: RecordPlace): void {
  const { sent, list } = history;
  const start = list.get(id)?.start;
  if (start === undefined) {
    reconcile(history, [], { place, reason: "unknown-message" });
    list.clear();
    return;
  }
  const own = history.turns.turns.findLast(({ entries }) => entries.some(({ message }) => message === id));
  dropUnsaid(history, sent.slice(0, start), { place, entry: own?.entries.find(({ message }) => message === id) });
  const ids = [...list.keys()];
  for (const gone of ids.slice(ids.indexOf(id))) list.delete(gone);
}

/** Finds the listed messages again by the parts that are sent. */
function rebuildList(history: History): void {
  const list: History["list"] = new Map([...history.list.keys()].map((id) => [id, { start: 0, end: 0 }]));
  for (const [at, { message }] of history.sent.entries()) {
    const known = list.get(message);
    list.set(message, known === undefined || known.end === 0 ? { start: at, end: at + 1 } : { ...known, end: at + 1 });
  }
  let end = 0;
  for (const [id, place] of list) {
    if (place.end === 0) list.set(id, { start: end, end });
    end = list.get(id)?.end ?? end;
  }
  history.list = list;
}

// Makes the sent parts match a new list of messages. A list that says the same in other words changes nothing; one that ends earlier
// is a rewind; one that says something else in between is a compaction: its new part, and what stays of the rest.

interface ChangeSource {
  readonly place: RecordPlace;
  /** Why something is no longer sent, if the agent did not say so. */
  readonly reason?: string;
}

/** Makes the sent parts match those said. */
function reconcile(history: History, said: readonly SaidPart[], settling: ChangeSource): void {
  const { sent } = history;
  const start = wholePieces(sent, said, commonStart(sent, said));
  const isShorter = start === said.length && settling.reason === undefined;
  if (start < sent.length && isShorter) dropUnsaid(history, said, settling);
  else if (start < sent.length) replace(history, said, { ...settling, start });
  else {
    history.sent = said.slice(0, start).map((part, at) => relink(part, sent[at] as SentPart));
    addSaid(history, said.slice(start));
  }
}

/** The same part under its current name in the agent's list. */
function relink(part: SaidPart, { event, entry, isFirst }: SentPart): SentPart {
  return { ...part, event, entry, isFirst };
}

/** Adds parts that had no record of their own. */
function addSaid(history: History, said: readonly SaidPart[]): void {
  for (let at = 0; at < said.length; ) {
    const { message: id, place } = said[at] as SaidPart;
    let end = at + 1;
    while (said[end]?.message === id) end++;
    const parts = said.slice(at, end);
    const record = history.records.at(place);
    const names = new Set(parts.map(({ name }) => name));
    const { pieces } = partsOfMessage({ id, record, place }, [], 0);
    const isImported = [...names].some((name) => history.imported.get(id)?.has(name));
    const own = pieces.filter((piece) => names.has(piece.name) || (piece.parts.length === 0 && !isImported));
    const entry = addPieces(history, { id, record, place }, own, isImported ? idOfPlace(history, place) : undefined);
    appendAll(history.sent, toSent(parts, entry));
    at = end;
  }
}

/** Drops what is no longer said: the conversation continues from an earlier place. */
function dropUnsaid(
  history: History,
  said: readonly SaidPart[],
  { place, entry: own }: ChangeSource & { readonly entry?: TurnEntry | undefined },
): void {
  const { sent } = history;
  const next = sent[said.length];
  const entry = own ?? next?.entry ?? null;
  const isWithin = entry !== null && sent[said.length - 1]?.entry === entry;
  if (next !== undefined && (next.entry === null || isWithin)) replace(history, said, { place, start: said.length });
  else if (entry !== null && !isWithin) dropFrom(history, said, entry);
}

function dropFrom(history: History, said: readonly SaidPart[], from: TurnEntry): void {
  const { sent, turns } = history;
  for (const { message, names, base } of rewindTurns(turns, from)) {
    const imported = base === messageEventId(message) ? history.imported.get(message) : undefined;
    for (const name of names) imported?.delete(name);
  }
  if (history.changes.length > 0) flushHeld(turns);
  history.changes = trimChanges(history.changes, from.order, turns.turns.at(-1)?.entries.at(-1));
  history.sent = said.map((part, at) => relink(part, sent[at] as SentPart));
}

/** Links parts with the entry that holds them. */
function toSent(parts: readonly SaidPart[], entry: TurnEntry | null): readonly SentPart[] {
  return parts.map((part) => ({ ...part, entry, event: entry === null ? "" : eventId(entry.base, part.name) }));
}

/** Replaces what is sent from a position on, except what is still said at the end. */
function replace(
  history: History,
  said: readonly SaidPart[],
  { place, start: first, reason }: ChangeSource & { readonly start: number },
): void {
  const { sent, turns } = history;
  flushHeld(turns);
  const start = alignStart(sent, first);
  // A list that replaces nothing would not be shown.
  const kept = alignKept(sent, Math.max(start + 1, sent.length - commonEnd(sent, said, start)));
  const middle = said.slice(start, said.length - (sent.length - kept));
  const last = turns.turns.at(-1)?.entries.at(-1);
  const id = idOfPlace(history, place);
  const pieces: { readonly message: string; readonly name: string; readonly place: RecordPlace }[] = [];
  const made = middle.map((part): SentPart => {
    if (!isSamePiece(part, pieces.at(-1) as SaidPart | undefined)) pieces.push(part);
    markImported(history, part.message, part.name);
    return { ...part, event: `${id}.${pieces.length - 1}`, entry: null };
  });
  const from = start === 0 ? null : (sent[start]?.entry ?? null);
  const keep = [...new Set(sent.slice(kept).flatMap(({ entry }) => entry ?? []))];
  const { timestamp } = history;
  if (last !== undefined) history.changes.push({ id, timestamp, from, last, keep, pieces, reason });
  history.sent = [
    ...sent.slice(0, start).map((part, at) => relink(said[at] as SaidPart, part)),
    ...made,
    ...sent.slice(kept).map((part, at) => relink(said[start + middle.length + at] as SaidPart, part)),
  ];
}

/** The last position, at most `most`, between two pieces. */
function wholePieces(sent: readonly SentPart[], said: readonly SaidPart[], most: number): number {
  let start = most;
  const isWithin = (at: number): boolean =>
    at > 0 &&
    (isSamePiece(said[at], said[at - 1]) || (sent[at] !== undefined && sent[at]?.event === sent[at - 1]?.event));
  while (isWithin(start)) start--;
  return start;
}

/** Whether two parts belong to one piece of a message. */
function isSamePiece(a: SaidPart | undefined, b: SaidPart | undefined): boolean {
  return a !== undefined && b !== undefined && a.message === b.message && a.name === b.name;
}

/** The last position, at most `most`, at which a compaction may begin: 0, or where a message of a turn begins. */
function alignStart(sent: readonly SentPart[], most: number): number {
  let start = most;
  while (start > 0 && !isOpening(sent[start])) start--;
  return start;
}

/**
 * The first position, at least `least`, from which a compaction may keep: a request of a turn begins there and nothing after it
 * was replaced.
 */
function alignKept(sent: readonly SentPart[], least: number): number {
  let kept = Math.max(least, sent.findLastIndex(({ entry }) => entry === null) + 1);
  while (kept < sent.length && !(sent[kept]?.kind === "request" && isOpening(sent[kept]))) kept++;
  return kept;
}

function isOpening(part: SentPart | undefined): boolean {
  return part?.isFirst === true && part.kind !== "result" && part.entry !== null;
}
