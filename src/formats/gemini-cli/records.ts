// The records of a session file, in order. Today they are lines; before 2026 the file was one document with a list of messages,
// which then come as records behind the document's own fields.
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
  /** Place among all entries of the file, rising. */
  readonly order: number;
  /** The message's id, as in the file. */
  readonly message: string;
  /** Id of the event of the piece that is named "", without a dot. */
  readonly base: string;
  /** The pieces, in order; none for a note. */
  readonly names: readonly string[];
  /** RFC 3339 UTC. */
  readonly timestamp: string;
}

/** Gives the id of a piece's event. */
export function eventId(base: string, name: string): string {
  return name === "" ? base : `${base}.${name}`;
}

/** Gives the id of the last event of an entry. */
export function lastEventId({ base, names }: TurnEntry): string {
  return eventId(base, names.at(-1) ?? "");
}

/** The agent's ids are UUIDs, and digits of digests. */
const USABLE = /^[A-Za-z0-9_-]{1,128}$/;

/** Gives the id of a message as the id of an event: no dot in it, and nothing that cannot stand in a name. */
export function messageEventId(id: string): string {
  return USABLE.test(id) ? id : `message-${deriveName(id)}`;
}

// The turns of a session. A turn opens at what the user typed; words of the agent that introduce it belong to it as well, and
// are held back until it is there, so that a file that grows only adds events. Going back takes turns off again: those become
// a branch that was left.

export interface SessionTurn {
  /** 0-based. */
  readonly index: number;
  readonly previous: SessionTurn | undefined;
  /** The entry that opens it; the source's piece of the turn begins at its line. */
  readonly opener: TurnEntry;
  /** In the order of their events. */
  readonly entries: TurnEntry[];
}

/** What was left by going back. */
export interface AbandonedPath {
  /** The entry from which on it was left. */
  readonly from: TurnEntry;
  /** Ordered, never empty; the first may be one that goes on in another way. */
  readonly turns: readonly SessionTurn[];
}

/** Changed by each entry. */
export interface TurnBuilder {
  /** Those that the agent goes on from. */
  readonly turns: SessionTurn[];
  /** In the order in which they were left. */
  readonly abandoned: AbandonedPath[];
  /** Notes that no turn holds yet. */
  readonly head: TurnEntry[];
  /** What introduces the next request. */
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

/** Puts what is held back where it stands: something is made of it before the request comes. */
export function flushHeld(builder: TurnBuilder): void {
  const { turns, held } = builder;
  const turn = turns.at(-1);
  const first = turn === undefined ? held.shift() : undefined;
  if (first !== undefined) openTurn(builder, first);
  else if (turn !== undefined) appendAll(turn.entries, held.splice(0));
}

/** Takes off an entry and all behind it. Gives the entries that were taken off, whether held back or not. */
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
    // What stood before the request stays for the one that comes in its place.
    builder.held = [...rest.filter(({ kind }) => kind === "context"), ...builder.held];
    appendAll(
      head,
      rest.filter(({ kind }) => kind === "note"),
    );
  }
  return [...held, ...off.flatMap(({ entries }) => entries.filter(isLater))];
}

/** Gives a turn on the way to one of the same index or a later one. */
export function turnOfPath(last: SessionTurn, index: number): SessionTurn | undefined {
  let turn: SessionTurn | undefined = last;
  while (turn !== undefined && turn.index > index) turn = turn.previous;
  return turn;
}
