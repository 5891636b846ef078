// Imports a document of Cline's: each message as its events, cut into turns at what the user says. A pure function of the file's
// text.
import { userError } from "../../core/errors.ts";
import { wordsOfContent } from "../../core/event/content.ts";
import type { Event } from "../../core/event/event.ts";
import { titleOfRequest } from "../../core/title.ts";
import { deriveName } from "../derived-name.ts";
import type { ImportedSession, SkippedLine } from "../imported-session.ts";
import { type RawLine, stringOf } from "../json-line.ts";
import type { SaidEvent } from "../request-body/said.ts";
import type { SessionSource } from "../session-source.ts";
import { NO_DATE } from "../timestamp.ts";
import { type ClineDocument, parseClineDocument } from "./document.ts";
import { readClineMessage } from "./read-message.ts";

/** Version of this importer: raise it when the same bytes would give other events. */
export const CLINE_IMPORTER = 1;

/** What a session without a request of the user is called. */
const UNTITLED = "untitled session";

/** A message that says something. */
interface PlacedMessage {
  readonly id: string;
  readonly timestamp: string;
  readonly said: readonly SaidEvent[];
  readonly isUsers: boolean;
}

/** Reads a session. Messages that say nothing are listed in `skippedLines`. Throws `not_a_session` for other files. */
export function readClineSession(source: SessionSource): ImportedSession {
  const document = parseClineDocument(source);
  if (document === null) throw notASession();
  const { messages, skipped } = placeMessages(document);
  const turns = turnsOf(messages);
  const known = new Set(messages.map(({ id }) => id));
  const createdAt = messages.find(({ timestamp }) => timestamp !== NO_DATE)?.timestamp ?? NO_DATE;
  return {
    format: "cline",
    importer: CLINE_IMPORTER,
    sessionId: document.sessionId,
    title: titleOf(messages),
    titles: [],
    createdAt,
    turnCount: turns.length,
    readTurn: (turn) => readTurn(turns[turn] ?? []),
    turnLine: () => 0,
    turnTime: (turn) => turns[turn]?.[0]?.timestamp ?? createdAt,
    hasLine: (id) => known.has(id),
    compactions: [],
    compactionTurns: new Map(),
    abandoned: [],
    skippedLines: skipped,
  };
}

function placeMessages({ sessionId, messages }: ClineDocument): {
  readonly messages: readonly PlacedMessage[];
  readonly skipped: readonly SkippedLine[];
} {
  const placed: PlacedMessage[] = [];
  const skipped: SkippedLine[] = [];
  const ids = new Set<string>();
  let timestamp = NO_DATE;
  for (const [at, message] of messages.entries()) {
    const own = ownId(message);
    const id = own !== "" && !ids.has(own) ? own : `${at}-${sessionId.replaceAll(".", "_")}`;
    ids.add(id);
    timestamp = timeOf(message) ?? timestamp;
    const { said, isUsers } = readClineMessage(message, id);
    if (said.length > 0) placed.push({ id, timestamp, said, isUsers });
    else skipped.push({ line: at + 1, reason: "a message without a known role or content" });
  }
  return { messages: placed, skipped };
}

/** The id of a message. Cline adds the id of the call to that of a result's message again each time it saves. */
function ownId(message: RawLine): string {
  const [first = "", call] = (stringOf(message, "id") ?? "").split("_tool_");
  const id = call === undefined ? first : `${first}_tool_${call}`;
  return id === "" || /^[A-Za-z0-9_-]{1,128}$/.test(id) ? id : `id-${deriveName(id)}`;
}

/** Milliseconds since 1970. */
function timeOf(message: RawLine): string | undefined {
  const time = new Date(typeof message["ts"] === "number" ? message["ts"] : Number.NaN);
  const year = time.getUTCFullYear();
  return year >= 1970 && year <= 9999 ? time.toISOString() : undefined;
}

/** What the user says begins a turn once somebody answered. */
function turnsOf(messages: readonly PlacedMessage[]): readonly (readonly PlacedMessage[])[] {
  const turns: PlacedMessage[][] = [];
  for (const message of messages) {
    const open = turns.at(-1);
    const isAnswered = open?.some(({ said }) => said.some(({ type }) => type !== "chat_request")) === true;
    if (open === undefined || (message.isUsers && isAnswered)) turns.push([message]);
    else open.push(message);
  }
  return turns;
}

function readTurn(messages: readonly PlacedMessage[]): readonly Event[] {
  const [first] = messages;
  if (first === undefined) return [];
  const start: Event = { type: "turn_start", id: `${first.id}.turn`, timestamp: first.timestamp };
  const events = messages.flatMap(({ id, timestamp, said }) =>
    said.map(({ type, ...rest }, n) => ({ type, id: n === 0 ? id : `${id}.${n}`, timestamp, ...rest }) as Event),
  );
  return [start, ...events];
}

function titleOf(messages: readonly PlacedMessage[]): string {
  for (const { said, isUsers } of messages) {
    const [request] = said.filter(({ type }) => type === "chat_request");
    if (!isUsers || request?.type !== "chat_request") continue;
    const title = titleOfRequest(wordsOfContent(request.content));
    if (title !== "") return title;
  }
  return UNTITLED;
}

function notASession(): Error {
  return userError(
    "not_a_session",
    "The file is not a session of Cline: expected one JSON object with `version`, `sessionId` and `messages`.",
    { hints: ["Cline keeps sessions in ~/.cline/data/sessions/<session>/<session>.messages.json."] },
  );
}
