// Second pass: the pieces of a message as events. The same record always gives the same events.

import type { Event } from "../../core/conversation/event.ts";
import { defined } from "../../core/json.ts";
import { type RawLine, stringOf } from "../json-line.ts";
import { type MessagePiece, readPieces } from "./message-pieces.ts";
import { noteOfRecord } from "./notes.ts";
import type { SessionRecords } from "./records.ts";
import { eventId, messageEventId, type TurnEntry } from "./turn-entry.ts";
import type { SessionTurn } from "./turns.ts";

/** Whose models the agent asks. */
const PROVIDER = "google";

/** Reads a turn, its turn_start first. */
export function readGeminiTurn(records: SessionRecords, turn: SessionTurn | undefined): readonly Event[] {
  if (turn === undefined) return [];
  const { base, timestamp } = turn.opener;
  const start: Event = { type: "turn_start", id: `${base}.turn`, timestamp };
  return [start, ...turn.entries.flatMap((entry) => readTurnEntry(records, entry))];
}

/** Reads the events of an entry. */
export function readTurnEntry(
  records: SessionRecords,
  { place, base, names, timestamp, message }: TurnEntry,
): readonly Event[] {
  const record = records.at(place);
  if (names.length === 0) return [noteOfRecord(record, { id: base, timestamp })];
  const pieces = new Map(readPieces(record).map((piece) => [piece.name, piece]));
  const messageId = messageEventId(message);
  return names.flatMap((name) => {
    const piece = pieces.get(name);
    return piece === undefined ? [] : [toEvent(piece, record, { id: eventId(base, name), timestamp, messageId })];
  });
}

interface EventPlace {
  readonly id: string;
  readonly timestamp: string;
  /** What the events of one answer share. */
  readonly messageId: string;
}

/** Reads the event of one piece; absent where the message has none of that name. */
export function readPieceEvent(record: RawLine, name: string, place: EventPlace): Event | undefined {
  const piece = readPieces(record).find((one) => one.name === name);
  return piece === undefined ? undefined : toEvent(piece, record, place);
}

function toEvent({ body, voice }: MessagePiece, record: RawLine, place: EventPlace): Event {
  const { id, timestamp, messageId } = place;
  const { type, ...said } = body;
  const model = stringOf(record, "model");
  const made = { provider: PROVIDER, ...defined({ model }), message_id: messageId };
  if (voice === "surroundings") return { type: "note", id, timestamp, kind: "session_context" };
  switch (type) {
    case "chat_request": {
      const origin = voice === "queued" || voice === "summary" ? voice : "harness";
      return { type, id, timestamp, ...said, ...(voice !== "user" && { metadata: { origin } }) } as Event;
    }
    case "tool_call_response":
      return { type, id, timestamp, ...said } as Event;
    case "note":
      return { type, id, timestamp, ...said, metadata: { ...made, usage: record["tokens"] } } as Event;
    default:
      return { type, id, timestamp, ...said, metadata: made } as Event;
  }
}
