// The records of a session file, in order. They are lines; before 2026 the file was one document with a list of messages, which then
// are records after the document's own fields.
import { appendAll } from "../../core/lists.ts";
import { deriveName } from "../imported-session.ts";
import {
  createParsedLines,
  isRecord,
  parseJsonLine,
  type RawLine,
  type SessionSource,
  stringOf,
} from "../session-source.ts";

export interface RecordPlace {
  /** Line, 0-based; in a document 0 for its own fields, then the messages from 1 on. */
  readonly line: number;
  /** Position in the list of messages that the line holds, 0-based; absent = the line itself. */
  readonly at?: number;
}

export interface SessionRecords {
  /** Number of lines, or of messages plus one for the document's fields. */
  readonly count: number;
  /** Reads a record. A string says why it is none; null is a blank line. */
  line(line: number): RawLine | string | null;
  /** Reads the record at a place; empty if there is none. */
  at(place: RecordPlace): RawLine;
}

/** Lines searched for the session's description; the first ones may be damaged. */
const LINES_LOOKED_AT = 50;

const documents = new WeakMap<SessionSource, RawLine | null>();

/** Recognises a session's description: nothing else has both keys. */
export function isSessionHeader(record: RawLine): boolean {
  return stringOf(record, "sessionId") !== undefined && stringOf(record, "projectHash") !== undefined;
}

/** The messages with which a record replaces the session's list; absent if it has none. */
export function listedMessages(record: RawLine): readonly unknown[] | undefined {
  const { $set: set } = record;
  const messages = isRecord(set) ? set["messages"] : isSessionHeader(record) ? record["messages"] : undefined;
  return Array.isArray(messages) ? messages : undefined;
}

/** Reads a session that is one document; null for lines and for other files. Never throws. */
export function sessionDocument(source: SessionSource): RawLine | null {
  const known = documents.get(source);
  if (known !== undefined) return known;
  const made = readDocument(source);
  documents.set(source, made);
  return made;
}

/** Finds the first record that describes a session; null if the first lines have none. Never throws. */
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
  // A list may be as long as the session: parse it once, not for each of its messages.
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

/** A document usually has several lines, but its only line may hold the messages too. */
function readDocument(source: SessionSource): RawLine | null {
  if (!mentionsSession(source)) return null;
  const first = firstLine(source);
  const isWhole = first !== undefined && isRecord(parseJsonLine(source.line(first)));
  if (isWhole && !isLast(source, first)) return null;
  const found = parseWhole(source);
  return found !== null && isSessionHeader(found) && Array.isArray(found["messages"]) ? found : null;
}

/** A cheap test for any file. */
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

/** The file may be longer than the longest string. */
function parseWhole(source: SessionSource): RawLine | null {
  try {
    const found = parseJsonLine(source.text());
    return isRecord(found) ? found : null;
  } catch {
    return null;
  }
}

/**
 * - `prompt`: what the user typed
 * - `context`: words of the agent that introduce the request that follows
 * - `said`: all else that a model is sent or gave
 * - `note`: what no model sees
 */
export type TurnEntryKind = "prompt" | "context" | "said" | "note";

export interface TurnEntry {
  readonly place: RecordPlace;
  readonly kind: TurnEntryKind;
  /** Number among all entries of the file, rising. */
  readonly order: number;
  /** The message's id, as in the file. */
  readonly message: string;
  /** Id of the event of piece "", without a dot. */
  readonly base: string;
  /** Names of the pieces, in order; empty for a note. */
  readonly names: readonly string[];
  /** RFC 3339 UTC. */
  readonly timestamp: string;
}

export function eventId(base: string, name: string): string {
  return name === "" ? base : `${base}.${name}`;
}

export function lastEventId({ base, names }: TurnEntry): string {
  return eventId(base, names.at(-1) ?? "");
}

/** The agent's ids are UUIDs or hex digests. */
const USABLE = /^[A-Za-z0-9_-]{1,128}$/;

/** Makes a message's id usable as an event's: no dot, and nothing that a name cannot contain. */
export function messageEventId(id: string): string {
  return USABLE.test(id) ? id : `message-${deriveName(id)}`;
}

// The turns of a session. A turn opens at what the user typed. Words of the agent that introduce it belong to it too, and are held
// back until it comes, so that a file that grows only adds events. A rewind removes turns, which become an abandoned branch.

export interface SessionTurn {
  /** 0-based. */
  readonly index: number;
  readonly previous: SessionTurn | undefined;
  /** Opening entry; the turn's piece of the source begins at its line. */
  readonly opener: TurnEntry;
  /** In the order of their events. */
  readonly entries: TurnEntry[];
}

/** Turns that a rewind abandoned. */
export interface AbandonedPath {
  /** The first abandoned entry. */
  readonly from: TurnEntry;
  /** Ordered, never empty; the first may continue differently on the active path. */
  readonly turns: readonly SessionTurn[];
}

/** State that each entry changes. */
export interface TurnBuilder {
  /** The active turns. */
  readonly turns: SessionTurn[];
  /** In the order in which they were abandoned. */
  readonly abandoned: AbandonedPath[];
  /** Notes before the first turn. */
  readonly head: TurnEntry[];
  /** Entries that introduce the next request. */
  held: TurnEntry[];
}

export function createTurnBuilder(): TurnBuilder {
  return { turns: [], abandoned: [], head: [], held: [] };
}

/** Adds an entry to the newest turn, or opens one with it. */
export function addToTurns(builder: TurnBuilder, entry: TurnEntry): void {
  const turn = builder.turns.at(-1);
  if (entry.kind === "note") (turn?.entries ?? builder.head).push(entry);
  else if (entry.kind === "context") builder.held.push(entry);
  else if (turn === undefined || entry.kind === "prompt") openTurn(builder, entry);
  else {
    appendAll(turn.entries, builder.held.splice(0));
    turn.entries.push(entry);
  }
}

function openTurn(builder: TurnBuilder, opener: TurnEntry): void {
  const { turns, head } = builder;
  const entries = [opener, ...builder.held, ...head].sort((a, b) => a.order - b.order);
  builder.held = [];
  head.length = 0;
  turns.push({ index: turns.length, previous: turns.at(-1), opener, entries });
}

/** Adds the held entries to the current turn: a change needs them before the request comes. */
export function flushHeld(builder: TurnBuilder): void {
  const { turns, held } = builder;
  const turn = turns.at(-1);
  const first = turn === undefined ? held.shift() : undefined;
  if (first !== undefined) openTurn(builder, first);
  else if (turn !== undefined) appendAll(turn.entries, held.splice(0));
}

/** Removes an entry and everything after it. Returns the removed entries, held ones included. */
export function rewindTurns(builder: TurnBuilder, from: TurnEntry): readonly TurnEntry[] {
  const { turns, abandoned, head } = builder;
  const isLater = ({ order }: TurnEntry): boolean => order >= from.order;
  const held = builder.held.filter(isLater);
  builder.held = builder.held.filter((entry) => !isLater(entry));
  const first = turns.findIndex(({ entries }) => entries.some(isLater));
  const turn = turns[first];
  if (turn === undefined) return held;
  const off = turns.splice(first);
  abandoned.push({ from, turns: off });
  const rest = turn.entries.filter((entry) => !isLater(entry));
  if (!isLater(turn.opener)) turns.push({ ...turn, entries: rest });
  else {
    // What preceded the request stays for the one that replaces it.
    builder.held = [...rest.filter(({ kind }) => kind === "context"), ...builder.held];
    appendAll(
      head,
      rest.filter(({ kind }) => kind === "note"),
    );
  }
  return [...held, ...off.flatMap(({ entries }) => entries.filter(isLater))];
}

/** Finds the turn of an index on the path to the last turn. */
export function turnOfPath(last: SessionTurn, index: number): SessionTurn | undefined {
  let turn: SessionTurn | undefined = last;
  while (turn !== undefined && turn.index > index) turn = turn.previous;
  return turn;
}
