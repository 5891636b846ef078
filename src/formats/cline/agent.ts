// Recognises and reads sessions of Cline.
import { type Compaction, compareTimestamps } from "../../core/conversation/compaction.ts";
import { type Event, wordsOfContent } from "../../core/conversation/event.ts";
import { titleOfRequest } from "../../core/conversation/marks.ts";
import { userError } from "../../core/errors.ts";
import type { AgentFormat } from "../agent-format.ts";
import { deriveName, type ImportedSession, type SkippedLine, toUsableId } from "../imported-session.ts";
import {
  isRecord,
  NO_DATE,
  nonBlankStringOf,
  parseJsonLine,
  readTimestamp,
  recordOf,
  type SessionDescent,
  type SessionSource,
} from "../session-source.ts";
import {
  type ClineDocument,
  type ClineMessage,
  eventsOf,
  parseClineDocument,
  parseCompactedState,
  placeMessages,
} from "./messages.ts";

// Imports a document of Cline: cuts its messages into turns at what the user says, and makes a compaction of what Cline sends since
// it compacted the session. A pure function of the texts of the session's two files.

/** Version of this importer: raise it when the same bytes would give other events or records. */
const CLINE_IMPORTER = 3;

/** Title of a session without a user request. */
const UNTITLED = "untitled session";

/**
 * Reads a session; `state` = the text of its second file, what is sent since a compaction. Lists empty messages in `skippedLines`.
 * Throws `not_a_session`.
 */
export function readClineSession(source: SessionSource, state: string | null = null): ImportedSession {
  const document = parseClineDocument(source);
  if (document === null) throw notASession();
  const own = placeMessages(document, document.sessionId);
  const compacted = state === null ? null : readState(state, document);
  const { messages, change } =
    compacted?.state == null
      ? { messages: own.messages, change: null }
      : compareState(own.messages, compacted.messages, compacted.state);
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
    skippedLines: [...own.skipped, ...(compacted?.skipped ?? [])],
  };
}

interface ReadState {
  readonly state: ClineDocument | null;
  readonly messages: readonly ClineMessage[];
  readonly skipped: readonly SkippedLine[];
}

function readState(text: string, document: ClineDocument): ReadState {
  const state = parseCompactedState(text, document);
  if (state === null) {
    const reason = "its compacted state, the second file, is no document of this session";
    return { state, messages: [], skipped: [{ line: 1, reason }] };
  }
  const { messages, skipped } = placeMessages(state, `${document.sessionId}-compacted`);
  const named = skipped.map(({ line, reason }) => ({ line, reason: `in its compacted state: ${reason}` }));
  return { state, messages, skipped: named };
}

/** The user's message begins a turn if the turn before has an answer. */
function turnsOf(messages: readonly ClineMessage[]): readonly (readonly ClineMessage[])[] {
  const turns: ClineMessage[][] = [];
  for (const message of messages) {
    const open = turns.at(-1);
    const isAnswered = open?.some(({ said }) => said.some(({ type }) => type !== "chat_request")) === true;
    if (open === undefined || (message.isFromUser && isAnswered)) turns.push([message]);
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
  for (const { said, isFromUser } of messages) {
    const [request] = said.filter(({ type }) => type === "chat_request");
    if (!isFromUser || request?.type !== "chat_request") continue;
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

// What Cline sends since a compaction: a list of messages in a second file; the session's own file keeps all messages. Where the
// list differs, the difference becomes a compaction; what follows it is sent as usual.

/** The messages of a session, and which of them are sent differently. */
interface CompactedState {
  /** The session's messages, and those that only the state has because they came later. */
  readonly messages: readonly ClineMessage[];
  /** Null = everything is sent as it was said. */
  readonly change: StateChange | null;
}

interface StateChange {
  /** RFC 3339 UTC. */
  readonly timestamp: string;
  /** The session's last message when it was compacted. */
  readonly newest: ClineMessage;
  /** Consecutive messages of the session, never empty. */
  readonly covered: readonly ClineMessage[];
  /** What is sent in their place. */
  readonly shown: readonly ClineMessage[];
}

function compareState(
  session: readonly ClineMessage[],
  state: readonly ClineMessage[],
  { updatedAt }: Pick<ClineDocument, "updatedAt">,
): CompactedState {
  const places = new Map(session.map(({ id }, at) => [id, at]));
  const isFromSession = (message: ClineMessage): boolean => places.has(message.id) || isMarkedByCline(message);
  const old = state.slice(0, state.findLastIndex(isFromSession) + 1);
  const messages = [...session, ...state.slice(old.length)];
  const made = readTimestamp(updatedAt);
  const end = endOfSession(session, places, { last: old.at(-1), made });
  const before = session.slice(0, end + 1);
  const newest = before.at(-1);
  if (newest === undefined || old.length === 0) return { messages, change: null };
  const [first, rest] = commonEnds(before, old);
  const covered = before.slice(first, before.length - rest);
  const shown = old.slice(first, old.length - rest);
  if (covered.length > 0) return { messages, change: { timestamp: made ?? newest.timestamp, newest, covered, shown } };
  if (shown.length === 0) return { messages, change: null };
  // An addition needs a message to replace: its neighbour.
  const [from, to] = rest > 0 ? [first, first + 1] : [first - 1, first];
  const neighbour = before.slice(from, to);
  const both = old.slice(from, old.length - rest + (to - first));
  return { messages, change: { timestamp: made ?? newest.timestamp, newest, covered: neighbour, shown: both } };
}

/** Position of the session's end when it was compacted: the message that the state ends with, else by time. */
function endOfSession(
  session: readonly ClineMessage[],
  places: ReadonlyMap<string, number>,
  { last, made }: { readonly last: ClineMessage | undefined; readonly made: string | undefined },
): number {
  const known = last === undefined ? undefined : places.get(last.id);
  if (known !== undefined || made === undefined) return known ?? session.length - 1;
  return session.findLastIndex(({ timestamp }) => compareTimestamps(timestamp, made) <= 0);
}

/** Cline marks the messages that it wrote and those that it kept. */
function isMarkedByCline({ about }: ClineMessage): boolean {
  return about["kind"] !== undefined || about["compaction"] !== undefined;
}

/** Counts the equal messages at the start, then at the end of both lists. */
function commonEnds(a: readonly ClineMessage[], b: readonly ClineMessage[]): readonly [first: number, last: number] {
  const [x, y] = [a.map(wordsOf), b.map(wordsOf)];
  const most = Math.min(a.length, b.length);
  let first = 0;
  while (first < most && x[first] === y[first]) first++;
  let last = 0;
  while (last < most - first && x.at(-1 - last) === y.at(-1 - last)) last++;
  return [first, last];
}

/** A message's content without token counts. */
function wordsOf({ said, isFromUser }: ClineMessage): string {
  return JSON.stringify([
    isFromUser,
    said.map(({ metadata, ...words }) => [words, metadata?.origin, metadata?.signature]),
  ]);
}

/** `turnOf` gives a message's turn, `opens` whether it opens one. */
function toCompaction(
  { timestamp, covered, shown }: StateChange,
  session: string,
  where: { readonly turnOf: (message: ClineMessage) => number; readonly opens: (message: ClineMessage) => boolean },
): Compaction {
  const [first, last] = [covered[0] as ClineMessage, covered.at(-1) as ClineMessage];
  const id = deriveName(`${session}.compacted.${last.id}.${JSON.stringify(shown.map(wordsOf))}`);
  const replacement = copiesOf(shown, id);
  const { kind, reason, messagesRemoved } = shown.find(isMarkedByCline)?.about ?? {};
  return {
    type: "compaction",
    id,
    timestamp,
    from_turn: where.turnOf(first),
    to_turn: where.turnOf(last),
    ...(!where.opens(first) && { from_event: first.id }),
    to_event: eventsOf(last).at(-1)?.id ?? last.id,
    ...(replacement.length > 0 ? { replacement } : { turns: "omit" as const }),
    source: "import",
    metadata: {
      kind,
      reason,
      messagesRemoved,
      line: first.id,
    },
  };
}

/** Copies with ids of their own, since the session's events may be shown too. Usage stays with the originals. */
function copiesOf(messages: readonly ClineMessage[], id: string): readonly Event[] {
  let n = 0;
  return messages.flatMap((message) => {
    const answer = `${id}.${n}`;
    return eventsOf(message).map((event): Event => {
      const { usage: _, ...metadata } = event.metadata ?? {};
      const isAnswer = metadata.message_id !== undefined;
      const own = { ...metadata, ...(isAnswer && { message_id: answer }) };
      const { metadata: __, ...words } = event;
      return { ...words, id: `${id}.${n++}`, ...(Object.keys(own).length > 0 && { metadata: own }) } as Event;
    });
  });
}

// Cline's format: see docs/ARCHITECTURE.md and `../agent-format.ts`. Its files do not name their project, so the user names the
// files.

const SESSION = ".messages.json";
const COMPACTED = ".compaction.json";

export const CLINE: AgentFormat = {
  name: "cline",
  agent: { name: "Cline", email: "cline@jpg.invalid" },
  importer: CLINE_IMPORTER,
  files: {
    endings: [SESSION, COMPACTED],
    document: () => "json",
    companion: { session: SESSION, companion: COMPACTED },
    about: (fileName) => (fileName.endsWith(SESSION) ? fileName.replace(/\.messages\.json$/, ".json") : null),
  },
  detect: (source) => parseClineDocument(source) !== null,
  sessionId: (source) => parseClineDocument(source)?.sessionId ?? null,
  origin: () => null,
  descent: (_, about) => readDescent(about),
  read: (source, _, companion) => readClineSession(source, companion),
  help: {
    place: "Cline keeps its sessions under ~/.cline/data/sessions.",
    file: "~/.cline/data/sessions/1784094124598_rruoq/1784094124598_rruoq.messages.json",
    reads:
      "Sessions of CLI 3 and VS Code 4 (`….messages.json`). What is sent since a compaction (`….compaction.json`, next to it) becomes a compaction of the session; imported alone, that file is a conversation of its own. A session forked off another becomes a fork of its conversation.",
    lost: [
      "The files do not say which project they belong to, so you have to name them.",
      "The system prompt stays in the source.",
      "Tasks of VS Code 3 (`api_conversation_history.json`) are imported as a request to the Anthropic API, with only their messages; what Cline had cut from them is shown.",
    ],
  },
};

/** The session that it was forked from, by the file next to it. */
function readDescent(about: string | null): SessionDescent | null {
  const manifest = about === null ? null : parseJsonLine(about);
  const fork = isRecord(manifest) ? recordOf(recordOf(manifest, "metadata") ?? {}, "fork") : undefined;
  const session = fork === undefined ? undefined : nonBlankStringOf(fork, "forkedFromSessionId");
  return session === undefined ? null : { kind: "fork", sessions: [toUsableId(session)] };
}
