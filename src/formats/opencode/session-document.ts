// A session of OpenCode as `opencode export` prints it and `opencode import` takes it: one JSON document of a session's
// description and its messages, each with its parts. Nothing is believed about values that is not asked for by type.
import type { SkippedLine } from "../imported-session.ts";
import { parseJsonDocument } from "../json-document.ts";
import { isRecord, type RawLine, recordOf, stringOf } from "../json-line.ts";
import type { SessionSource } from "../session-source.ts";
import { toUsableId } from "../usable-id.ts";

/** A message as it stands in the document. */
export interface RawMessage {
  /** Position in the document, counted from 1. */
  readonly position: number;
  readonly role: "user" | "assistant";
  readonly info: RawLine;
  /** In the order in which the agent sends them. */
  readonly parts: readonly RawLine[];
}

export interface SessionDocument {
  readonly sessionId: string;
  readonly info: RawLine;
  /** In the order in which the agent sends them. */
  readonly messages: readonly RawMessage[];
  /** Messages and parts that are none, by the message's position. */
  readonly skipped: readonly SkippedLine[];
}

const parsed = new WeakMap<SessionSource, SessionDocument | null>();

/** Parses a file once, whoever asks; null when it is no such document. Never throws. */
export function parseDocument(source: SessionSource): SessionDocument | null {
  const known = parsed.get(source);
  if (known !== undefined) return known;
  const value = parseJsonDocument(source);
  const document = isRecord(value) ? readDocument(value) : null;
  parsed.set(source, document);
  return document;
}

function readDocument({ info, messages, unread }: RawLine): SessionDocument | null {
  if (!isRecord(info) || !Array.isArray(messages)) return null;
  const id = stringOf(info, "id");
  if (id === undefined || id === "") return null;
  const skipped: SkippedLine[] = [];
  const found = messages.flatMap((message: unknown, at) => {
    const read = readMessage(message, at + 1, skipped);
    if (typeof read !== "string") return [read];
    skipped.push({ line: at + 1, reason: read });
    return [];
  });
  for (const file of Array.isArray(unread) ? unread.filter(isRecord) : [])
    skipped.push({ line: 1, reason: `${stringOf(file, "path") ?? "a file of it"} is not a JSON object` });
  return { sessionId: toUsableId(id), info, messages: inOrder(found), skipped };
}

/** Reads a message; a text is the reason why it is none. */
function readMessage(message: unknown, position: number, skipped: SkippedLine[]): RawMessage | string {
  if (!isRecord(message)) return "not an object";
  const info = recordOf(message, "info");
  if (info === undefined) return "no `info`";
  const role = stringOf(info, "role");
  if (role !== "user" && role !== "assistant") return `a message of role ${JSON.stringify(role ?? null)}`;
  const listed = message["parts"];
  if (!Array.isArray(listed)) return "no `parts`";
  const parts = listed.filter((part): part is RawLine => isRecord(part) && typeof part["type"] === "string");
  if (parts.length < listed.length) skipped.push({ line: position, reason: "a part without `type`" });
  return { position, role, info, parts: orderedBy(parts, "prt", (part) => part) };
}

/** When a message was made, milliseconds since 1970; absent when it does not say so. */
export function createdAt({ info }: RawMessage): number | undefined {
  return timeOf(recordOf(info, "time")?.["created"]);
}

/** Last millisecond of the year 9999. */
const LATEST = 253_402_300_799_999;

/** A time in milliseconds since 1970; absent when a value is none. */
export function timeOf(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value <= LATEST ? Math.floor(value) : undefined;
}

/** By time, and by id where that is the same, as the agent sends them; one without a time stays behind the one before it. */
function inOrder(messages: readonly RawMessage[]): readonly RawMessage[] {
  let last = 0;
  const timed = messages.map((message) => {
    last = createdAt(message) ?? last;
    return { message, time: last };
  });
  return timed
    .sort((a, b) => a.time - b.time || compareIds(a.message.info, b.message.info, "msg"))
    .map(({ message }) => message);
}

/** Orders parts by id where all have ids of the agent's own, which rise; else they stay as they stand. */
function orderedBy<Item>(items: readonly Item[], prefix: string, fieldsOf: (item: Item) => RawLine): readonly Item[] {
  if (!items.every((item) => stringOf(fieldsOf(item), "id")?.startsWith(prefix) === true)) return items;
  return [...items].sort((a, b) => compareIds(fieldsOf(a), fieldsOf(b), prefix));
}

function compareIds(a: RawLine, b: RawLine, prefix: string): number {
  const [x = "", y = ""] = [stringOf(a, "id"), stringOf(b, "id")];
  if (x === y || !x.startsWith(prefix) || !y.startsWith(prefix)) return 0;
  return x < y ? -1 : 1;
}
