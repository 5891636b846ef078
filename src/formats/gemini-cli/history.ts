// The session as the agent has it while its file is read: what it sends, and what the conversation has of it.
import type { RawLine } from "../json-line.ts";
import { readTimestamp } from "../timestamp.ts";
import type { Change } from "./changes.ts";
import type { MessagePiece } from "./message-pieces.ts";
import type { RecordPlace, SessionRecords } from "./records.ts";
import type { ListedMessage, SentPart } from "./sent-parts.ts";
import { messageEventId, type TurnEntry, type TurnEntryKind } from "./turn-entry.ts";
import { addToTurns, noTurns, type TurnBuilder } from "./turns.ts";

/** Changed by each record. */
export interface History {
  readonly records: SessionRecords;
  readonly session: string;
  readonly turns: TurnBuilder;
  /** What the agent did to its list, oldest first. */
  changes: Change[];
  /** What the agent sends. */
  sent: SentPart[];
  /** Where the parts of each message of the agent's list stand among those, `[start, end)`. */
  list: Map<string, { readonly start: number; readonly end: number }>;
  /** The pieces of each message that the conversation has. */
  readonly told: Map<string, Set<string>>;
  /** Counts entries. */
  order: number;
  /** RFC 3339 UTC, of the newest dated record. */
  timestamp: string;
}

export function startHistory(records: SessionRecords, session: string, timestamp: string): History {
  const nothing = { turns: noTurns(), changes: [], sent: [], list: new Map(), told: new Map() };
  return { records, session, ...nothing, order: 0, timestamp };
}

/**
 * Makes an entry of the pieces that the conversation does not have; null where it has all. With `base`, the id of its events,
 * it has none of them: others of the message's id are other ones.
 */
export function tell(
  history: History,
  { id, place, record }: ListedMessage,
  pieces: readonly MessagePiece[],
  base: string = messageEventId(id),
): TurnEntry | null {
  const told = base === messageEventId(id) ? history.told.get(id) : undefined;
  const fresh = pieces.filter(({ name }) => told?.has(name) !== true);
  if (fresh.length === 0) return null;
  for (const { name } of fresh) markTold(history, id, name);
  const kind = kindOf(fresh);
  const names = fresh.map(({ name }) => name);
  const timestamp = timeOfRecord(history, record);
  const entry = { place, kind, order: history.order++, message: id, base, names, timestamp };
  addToTurns(history.turns, entry);
  return entry;
}

/** Notes that the conversation has a piece of a message. */
export function markTold({ told }: History, message: string, name: string): void {
  const names = told.get(message);
  if (names === undefined) told.set(message, new Set([name]));
  else names.add(name);
}

/** Adds what no model sees: a record that has no id of its own, or a message that is shown only. */
export function note(history: History, place: RecordPlace, record: RawLine, id?: string): void {
  const message = id ?? idOfPlace(history, place);
  const isTold = history.told.has(message);
  const base = id === undefined || isTold ? idOfPlace(history, place) : messageEventId(id);
  const timestamp = timeOfRecord(history, record);
  if (id !== undefined) markTold(history, id, "");
  addToTurns(history.turns, { place, kind: "note", order: history.order++, message, base, names: [], timestamp });
}

/** Gives the id of what a record makes that has none of its own. */
export function idOfPlace({ session }: Pick<History, "session">, { line, at }: RecordPlace): string {
  return `${line}${at === undefined ? "" : `-${at}`}-${session.replaceAll(".", "_")}`;
}

/** The time of a record; of one without, that of the newest dated one. */
export function timeOfRecord(history: History, record: RawLine): string {
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
