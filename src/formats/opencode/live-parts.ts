// What a running session of OpenCode sends now: its messages since its newest summary, and which part is which event.
import { type Event, traitsOf } from "../../core/conversation/event.ts";
import { type RawLine, recordOf, type SessionSource, stringOf } from "../session-source.ts";
import { CLEARED, clearedAt } from "./compactions.ts";
import { eventsOfMessage } from "./events.ts";
import { type Message, readMessages } from "./messages.ts";
import { parseDocument, timeOf } from "./store.ts";

/** A part that OpenCode sends. */
export interface OwnPart {
  readonly part: RawLine;
  /** What it says: a text, reasoning or a call; of a person's message, the request that it is a piece of. */
  readonly said: Event;
  /** Position among the pieces of that request, 0-based. */
  readonly piece: number;
  /** The result of a call. */
  readonly result: Event | undefined;
  /** OpenCode's text in place of a result that it cleared. */
  readonly cleared: string | undefined;
}

export interface OwnMessage {
  readonly message: Message;
  /** Its place among the messages that are sent, 0-based. */
  readonly at: number;
  /** Never empty. */
  readonly parts: readonly OwnPart[];
}

export interface OwnMessages {
  readonly messages: readonly OwnMessage[];
  /** Ids of the messages that the newest summary hides. */
  readonly hidden: ReadonlySet<string>;
  /** The newest summary; absent = none hides anything. */
  readonly summary: Message | undefined;
}

/** Reads them; null if the document is no session. */
export function readOwnMessages(source: SessionSource): OwnMessages | null {
  const document = parseDocument(source);
  if (document === null) return null;
  const { active } = readMessages(document);
  const { sent, hidden, summary } = sinceSummary(active);
  const messages: OwnMessage[] = [];
  for (const message of sent) {
    const parts = message.kind === "failed" || message.kind === "empty" ? [] : partsOf(message);
    if (parts.length > 0) messages.push({ message, at: messages.length, parts });
  }
  return { messages, hidden, summary };
}

/** The question and its summary, the tail that they keep, and what came after. */
function sinceSummary(active: readonly Message[]): {
  readonly sent: readonly Message[];
  readonly hidden: ReadonlySet<string>;
  readonly summary: Message | undefined;
} {
  const none = { sent: active, hidden: new Set<string>(), summary: undefined };
  const at = active.findLastIndex(({ kind }) => kind === "summary");
  const summary = active[at];
  const asked = active.findIndex(({ sourceId }) => sourceId === stringOf(summary?.info ?? {}, "parentID"));
  if (summary === undefined || asked < 0 || asked > at) return none;
  const [part = {}] = active[asked]?.parts.filter(({ type }) => type === "compaction") ?? [];
  const tail = stringOf(part, "tail_start_id");
  const from = tail === undefined ? asked : active.findIndex(({ sourceId }) => sourceId === tail);
  if (from < 0 || from > asked) return none;
  const sent = [...active.slice(asked, at + 1), ...active.slice(from, asked), ...active.slice(at + 1)];
  return { sent, hidden: new Set(active.slice(0, from).map(({ id }) => id)), summary };
}

/** Each part alone tells how many events it gives; their ids count all parts. */
function partsOf(message: Message): readonly OwnPart[] {
  const all = visible(eventsOfMessage(message));
  const said = all.filter(({ type }) => type !== "tool_call_response");
  const results = all.filter(({ type }) => type === "tool_call_response");
  const parts: OwnPart[] = [];
  let [next, nextResult] = [0, 0];
  for (const part of message.parts) {
    const own = visible(eventsOfMessage({ ...message, parts: [part] }));
    const [first] = own;
    if (first === undefined) continue;
    const before = parts.at(-1);
    const joins = message.role === "user" && before !== undefined && isOneRequest(before.said, first);
    const event = joins ? before.said : said[next++];
    if (event === undefined) continue;
    const result = own.length > 1 ? results[nextResult++] : undefined;
    const cleared = result === undefined ? undefined : clearedText(part);
    parts.push({ part, said: event, piece: joins ? before.piece + 1 : 0, result, cleared });
  }
  return parts;
}

function clearedText(part: RawLine): string | undefined {
  const time = timeOf(clearedAt(part));
  return time === undefined || time === 0 ? undefined : CLEARED;
}

/** Pieces of one kind that follow each other are one request. */
function isOneRequest(before: Event, next: Event): boolean {
  return isTyped(before) === isTyped(next);
}

function isTyped({ metadata }: Event): boolean {
  return metadata?.origin !== "harness";
}

function visible(events: readonly Event[]): readonly Event[] {
  return events.filter((event) => traitsOf(event).providerVisible);
}

export function callState(part: RawLine): RawLine {
  return recordOf(part, "state") ?? {};
}
