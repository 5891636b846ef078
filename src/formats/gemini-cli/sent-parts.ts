// What the agent sends, part by part, in order, to compare with a new list of messages. When the agent rewrites its list, ids change
// and neighbours of one role are joined, but the parts stay.
import { type Compaction, compareTimestamps } from "../../core/conversation/compaction.ts";
import type { Event } from "../../core/conversation/event.ts";
import { deriveName } from "../imported-session.ts";
import { addMilliseconds, type RawLine } from "../session-source.ts";
import { type MessagePiece, readPieceEvent, readPieces } from "./events.ts";
import {
  eventId,
  lastEventId,
  type RecordPlace,
  type SessionRecords,
  type SessionTurn,
  type TurnEntry,
} from "./records.ts";

/** A part of a message in the agent's list. */
export interface SaidPart {
  /** Equal for equal parts. */
  readonly fingerprint: string;
  /** Id of the message, as in the file. */
  readonly message: string;
  /** Name of the piece that it belongs to. */
  readonly name: string;
  readonly place: RecordPlace;
  readonly kind: "request" | "answer" | "call" | "result";
  /** Of a call and a result. */
  readonly call?: string;
  /** Whether it is its message's first part. */
  readonly isFirst: boolean;
}

/** A part that the agent sends, with its event. */
export interface SentPart extends SaidPart {
  /** Id of the event that holds it. */
  readonly event: string;
  /** The entry that holds it; null if it is only in a compaction's list. */
  readonly entry: TurnEntry | null;
}

/** A message with its id in the agent's list. */
export interface ListedMessage {
  readonly id: string;
  readonly record: RawLine;
  readonly place: RecordPlace;
}

/**
 * Returns the parts of a message that is sent after the first `before` of `parts`. Omits a result that was already sent: the agent
 * writes results twice, with the call and as the user's.
 */
export function partsOfMessage(
  { id, record, place }: ListedMessage,
  parts: readonly SaidPart[],
  before: number,
): { readonly said: readonly SaidPart[]; readonly pieces: readonly MessagePiece[] } {
  const said: SaidPart[] = [];
  const pieces = readPieces(record).filter((piece) => {
    const call = callOf(piece);
    const kind = kindOf(piece);
    if (kind === "result" && isAnswered(call, [said, said.length], [parts, before])) return false;
    for (const part of piece.parts) {
      const named = { message: id, name: piece.name, place, kind, call };
      said.push({ ...named, fingerprint: fingerprintOf(kind, part), isFirst: said.length === 0 });
    }
    return true;
  });
  return { said, pieces };
}

/** Counts the equal parts at the start of both lists. */
export function commonStart(a: readonly SaidPart[], b: readonly SaidPart[]): number {
  const most = Math.min(a.length, b.length);
  let count = 0;
  while (count < most && a[count]?.fingerprint === b[count]?.fingerprint) count++;
  return count;
}

/** Counts the equal parts at their end, after the first `start` of both. */
export function commonEnd(a: readonly SaidPart[], b: readonly SaidPart[], start: number): number {
  const most = Math.min(a.length, b.length) - start;
  let count = 0;
  while (count < most && a[a.length - 1 - count]?.fingerprint === b[b.length - 1 - count]?.fingerprint) count++;
  return count;
}

type Stretch = readonly [parts: readonly SaidPart[], end: number];

/** Whether the newest part of a call id, in stretches ordered newest first, is a result. */
function isAnswered(call: string | undefined, ...stretches: readonly Stretch[]): boolean {
  for (const [parts, end] of stretches)
    for (let at = end - 1; at >= 0; at--) if (parts[at]?.call === call) return parts[at]?.kind === "result";
  return false;
}

function kindOf({ body }: MessagePiece): SaidPart["kind"] {
  switch (body.type) {
    case "chat_request":
      return "request";
    case "tool_call_request":
      return "call";
    case "tool_call_response":
      return "result";
    default:
      return "answer";
  }
}

function callOf({ body }: MessagePiece): string | undefined {
  const { call_id: call } = body as { readonly call_id?: string };
  return call;
}

function fingerprintOf(kind: string, value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  let [one, two] = [0x811c9dc5, 0x9747b28c];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x01000193);
    two = Math.imul((two << 13) | (two >>> 19), 0xcc9e2d51) ^ code;
  }
  return `${kind} ${text.length} ${one} ${two}`;
}

// Changes to the agent's list other than appending, as compactions: a new list replaces part of the old one, and keeps what it still
// says at the end.

export interface Change {
  /** Names its compaction and the events of its list. */
  readonly id: string;
  /** RFC 3339 UTC. */
  readonly timestamp: string;
  /** First covered entry; null = from the beginning. */
  readonly from: TurnEntry | null;
  /** Last covered entry. */
  readonly last: TurnEntry;
  /** Covered entries that stay. */
  readonly keep: readonly TurnEntry[];
  /** The replacement, in order. */
  readonly pieces: readonly { readonly message: string; readonly name: string; readonly place: RecordPlace }[];
  /** Why something is no longer sent, if the agent did not say so. */
  readonly reason?: string;
}

/** The changes that remain after a rewind removed everything from an entry on; `last` = the last entry that remains. */
export function trimChanges(changes: readonly Change[], order: number, last: TurnEntry | undefined): Change[] {
  return changes.flatMap((change) => {
    if (change.last.order < order) return [change];
    const isGone = last === undefined || (change.from !== null && change.from.order > last.order);
    return isGone ? [] : [{ ...change, last, keep: change.keep.filter((entry) => entry.order < order) }];
  });
}

/** Makes the compactions, oldest first, with rising timestamps. */
export function toCompactions(
  changes: readonly Change[],
  { turns, records }: { readonly turns: readonly SessionTurn[]; readonly records: SessionRecords },
): readonly Compaction[] {
  if (changes.length === 0) return [];
  const turnOf = new Map(turns.flatMap(({ index, entries }) => entries.map((entry) => [entry, index] as const)));
  const compactions: Compaction[] = [];
  for (const change of changes) {
    const { id, timestamp, from, last, keep, reason } = change;
    const after = compactions.at(-1)?.timestamp;
    const isLater = after === undefined || compareTimestamps(timestamp, after) > 0;
    const replacement = replacementOf(change, records);
    const kept = keep.flatMap(({ base, names }) => names.filter(isSentName).map((name) => eventId(base, name)));
    compactions.push({
      type: "compaction",
      id: deriveName(`${id}.list`),
      timestamp: isLater ? timestamp : addMilliseconds(after, 1),
      from_turn: from === null ? 0 : (turnOf.get(from) ?? 0),
      to_turn: turnOf.get(last) ?? 0,
      ...(from !== null && { from_event: eventId(from.base, from.names[0] ?? "") }),
      to_event: lastEventId(last),
      ...(kept.length > 0 && { keep: kept }),
      ...(replacement.length > 0 ? { replacement } : { turns: "omit" as const }),
      reason,
      source: "import",
      metadata: { line: id },
    });
  }
  return compactions;
}

function isSentName(name: string): boolean {
  return name !== "usage";
}

/** Events of one message share the first one's id as message id. */
function replacementOf({ id, timestamp, pieces }: Change, records: SessionRecords): readonly Event[] {
  let answer = { message: "", id: "" };
  return pieces.flatMap(({ message, name, place }, at) => {
    const own = `${id}.${at}`;
    if (answer.message !== message) answer = { message, id: own };
    return readPieceEvent(records.at(place), name, { id: own, timestamp, messageId: answer.id }) ?? [];
  });
}
