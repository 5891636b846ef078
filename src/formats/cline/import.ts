// Imports a document of Cline's: each message as its events, cut into turns at what the user says, and what Cline sends since it
// compacted the session as a compaction. A pure function of the texts of the session's file and of the one beside it.

import { type Event, wordsOfContent } from "../../core/conversation/event.ts";
import { titleOfRequest } from "../../core/conversation/marks.ts";
import { userError } from "../../core/errors.ts";
import type { ImportedSession, SkippedLine } from "../imported-session.ts";
import type { SessionSource } from "../session-source.ts";
import { NO_DATE } from "../timestamp.ts";
import { compareState, toCompaction } from "./compacted-state.ts";
import { type ClineDocument, parseClineDocument, parseCompactedState } from "./document.ts";
import { type ClineMessage, eventsOf, placeMessages } from "./messages.ts";

/** Version of this importer: raise it when the same bytes would give other events or records. */
export const CLINE_IMPORTER = 2;

/** What a session without a request of the user is called. */
const UNTITLED = "untitled session";

/**
 * Reads a session; `state` = the text of the file with what is sent since a compaction. Messages that say nothing are listed in
 * `skippedLines`. Throws `not_a_session` for other files.
 */
export function readClineSession(source: SessionSource, state: string | null = null): ImportedSession {
  const document = parseClineDocument(source);
  if (document === null) throw notASession();
  const own = placeMessages(document, document.sessionId);
  const told = state === null ? null : readState(state, document);
  const { messages, change } =
    told?.state == null
      ? { messages: own.messages, change: null }
      : compareState(own.messages, told.messages, told.state);
  const turns = turnsOf(messages);
  const turnOf = new Map(turns.flatMap((turn, at) => turn.map((message) => [message, at] as const)));
  const where = {
    turnOf: (message: ClineMessage): number => turnOf.get(message) ?? 0,
    opens: (message: ClineMessage): boolean => turns[turnOf.get(message) ?? 0]?.[0] === message,
  };
  const compactions = change === null ? [] : [toCompaction(change, document.sessionId, where)];
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
    compactions,
    compactionTurns: new Map(compactions.map(({ id }) => [id, change === null ? 0 : where.turnOf(change.newest)])),
    abandoned: [],
    skippedLines: [...own.skipped, ...(told?.skipped ?? [])],
  };
}

interface ToldState {
  readonly state: ClineDocument | null;
  readonly messages: readonly ClineMessage[];
  readonly skipped: readonly SkippedLine[];
}

function readState(text: string, document: ClineDocument): ToldState {
  const state = parseCompactedState(text, document);
  if (state === null) {
    const reason = "its compacted state, the file beside it, is no document of this session";
    return { state, messages: [], skipped: [{ line: 1, reason }] };
  }
  const { messages, skipped } = placeMessages(state, `${document.sessionId}-compacted`);
  const named = skipped.map(({ line, reason }) => ({ line, reason: `in its compacted state: ${reason}` }));
  return { state, messages, skipped: named };
}

/** What the user says begins a turn once somebody answered. */
function turnsOf(messages: readonly ClineMessage[]): readonly (readonly ClineMessage[])[] {
  const turns: ClineMessage[][] = [];
  for (const message of messages) {
    const open = turns.at(-1);
    const isAnswered = open?.some(({ said }) => said.some(({ type }) => type !== "chat_request")) === true;
    if (open === undefined || (message.isUsers && isAnswered)) turns.push([message]);
    else open.push(message);
  }
  return turns;
}

function readTurn(messages: readonly ClineMessage[]): readonly Event[] {
  const [first] = messages;
  if (first === undefined) return [];
  const start: Event = { type: "turn_start", id: `${first.id}.turn`, timestamp: first.timestamp };
  return [start, ...messages.flatMap(eventsOf)];
}

function titleOf(messages: readonly ClineMessage[]): string {
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
