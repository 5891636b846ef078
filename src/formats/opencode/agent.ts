// Recognises, reads and resumes sessions of OpenCode.
import { type Event, isUserRequest, wordsOfContent } from "../../core/conversation/event.ts";
import { shownTitle, titleOfRequest } from "../../core/conversation/marks.ts";
import { userError } from "../../core/errors.ts";
import { userFolder } from "../../core/user-folders.ts";
import type { AgentFormat, Machine, SessionDraft } from "../agent-format.ts";
import {
  type AbandonedBranch,
  deriveName,
  type ExportOrigin,
  type ImportedSession,
  toUsableId,
} from "../imported-session.ts";
import {
  type HeldSession,
  isRecord,
  NO_DATE,
  nonBlankStringOf,
  parseJsonLine,
  type RawLine,
  type ResumePlan,
  recordOf,
  type SessionDescent,
  type SessionSource,
  stringOf,
} from "../session-source.ts";
import { listOpenCodeCompactions } from "./compactions.ts";
import { documentOrigin, eventsOfMessage, noteOfParent } from "./events.ts";
import { OPENCODE_LIVE } from "./live.ts";
import { cutMessages, isSentMessage, type Message, type MessageTurn, readMessages } from "./messages.ts";
import { OPENCODE_SETUP } from "./setup.ts";
import {
  isSessionFile,
  joinScattered,
  listScattered,
  OPENCODE_STORE,
  olderFolders,
  openCodeDirectory,
  parseDocument,
  type SessionDocument,
  timeOf,
} from "./store.ts";
import { writeOpenCodeSession, writtenMessageId, writtenSessionId } from "./write.ts";

// A sub-agent's session names its parent in its description. A fork names none.

/** Reads where a session comes from; null for one without a parent. */
function openCodeDescent(source: SessionSource): SessionDescent | null {
  const parent = nonBlankStringOf(parseDocument(source)?.info ?? {}, "parentID");
  return parent === undefined ? null : { kind: "agent", sessions: [toUsableId(parent)] };
}

// Imports a session of OpenCode: its messages as turns, read on demand, its summaries and cleared results as compactions. A pure
// function of the document's text.

/** Version of this importer: raise it when the same bytes would give other events or records. */
const OPENCODE_IMPORTER = 3;

/** Title of a session without a user request. */
const UNTITLED = "untitled session";
/** The agent's placeholder titles. */
const NO_TITLE = /^(?:New|Child) session - \d{4}-\d\d-\d\dT/;

/** Recognises a session as OpenCode exports it. */
function isOpenCodeSession(source: SessionSource): boolean {
  const document = parseDocument(source);
  if (document === null) return false;
  const { info, messages, skipped } = document;
  return messages.length > 0 || skipped.length === 0 || stringOf(info, "id")?.startsWith("ses") === true;
}

function openCodeSessionId(source: SessionSource): string | null {
  return parseDocument(source)?.sessionId ?? null;
}

/** Reads which conversation jpg exported a session from; null for OpenCode's own. */
function openCodeOrigin(source: SessionSource): ExportOrigin | null {
  const document = parseDocument(source);
  return document === null ? null : documentOrigin(document);
}

/** Reads a session; lists damaged messages in `skippedLines`. Throws `not_a_session`. */
export function readOpenCodeSession(source: SessionSource): ImportedSession {
  const document = parseDocument(source);
  if (document === null) throw notASession();
  const { sessionId, info } = document;
  const { active, reverted, skipped } = readMessages(document);
  const reading = readMessageTurns(active, document);
  const abandoned =
    reverted === undefined ? null : createAbandonedBranch(reading, readMessageTurns(reverted, document));
  const placed = listOpenCodeCompactions(reading.turns);
  const createdAt = timestampOf(document) ?? active[0]?.timestamp ?? NO_DATE;
  const ids = new Set((reverted ?? active).map(({ id }) => id));
  const origin = documentOrigin(document);
  const cwd = stringOf(info, "directory");
  return {
    format: "opencode",
    importer: OPENCODE_IMPORTER,
    sessionId,
    title: firstTitle(reading) ?? UNTITLED,
    titles: readTitles(document, createdAt),
    createdAt,
    cwd,
    turnCount: reading.turns.length,
    readTurn: (turn) => readMessageTurn(reading, turn),
    turnLine: () => 0,
    hasLine: (id) => ids.has(id),
    turnTime: (turn) => reading.turns[turn]?.opener.timestamp ?? createdAt,
    compactions: placed.map(({ compaction }) => compaction),
    compactionTurns: new Map(placed.map(({ compaction, turn }) => [compaction.id, turn])),
    abandoned: abandoned === null ? [] : [abandoned],
    skippedLines: skipped,
    ...(origin !== null && { origin }),
  };
}

function notASession(): Error {
  return userError(
    "not_a_session",
    "The file is not a session of OpenCode: expected one JSON document with `info` and `messages`.",
    { hints: ["`opencode export SESSION > FILE` writes one."] },
  );
}

function timestampOf({ info }: SessionDocument): string | undefined {
  const time = timeOf(recordOf(info, "time")?.["created"]);
  return time === undefined ? undefined : new Date(time).toISOString();
}

/** The first words of the first request. */
function firstTitle(reading: MessageReading): string | undefined {
  for (const turn of reading.turns.keys()) {
    for (const event of readMessageTurn(reading, turn)) {
      if (!isUserRequest(event)) continue;
      const title = titleOfRequest(wordsOfContent(event.content));
      if (title !== "") return title;
    }
  }
  return undefined;
}

/** The agent's title; the document does not say when it was given. */
function readTitles({ info, sessionId }: SessionDocument, timestamp: string): ImportedSession["titles"] {
  const title = shownTitle(stringOf(info, "title") ?? "");
  if (title === "" || NO_TITLE.test(title)) return [];
  return [{ timestamp, title, id: deriveName(`${sessionId}.${title}`) }];
}

/** Makes a branch of the reverted messages; null if nothing in it was asked or answered. */
function createAbandonedBranch(active: MessageReading, abandoned: MessageReading): AbandonedBranch | null {
  const first = sentMessages(abandoned)[sentMessages(active).length];
  if (first === undefined) return null;
  const differs = abandoned.turns.findIndex((turn, at) => !isSameTurn(turn, active.turns[at]));
  return {
    name: `left-${deriveName(first.id).slice(0, 8)}`,
    commonTurns: differs < 0 ? abandoned.turns.length : differs,
    turnCount: abandoned.turns.length,
    readTurn: (turn) => readMessageTurn(abandoned, turn),
  };
}

function sentMessages({ turns }: MessageReading): readonly Message[] {
  return turns.flatMap(({ messages }) => messages).filter(isSentMessage);
}

/** A message with some parts taken back is another message. */
function isSameTurn({ messages }: MessageTurn, other: MessageTurn | undefined): boolean {
  const others = other?.messages ?? [];
  return messages.length === others.length && messages.every((message, at) => message === others[at]);
}

// Turns as events, read in any order, any number of times, with the same result.

interface MessageReading {
  readonly sessionId: string;
  readonly turns: readonly MessageTurn[];
  /** The session whose agent started this one. */
  readonly parent?: string;
}

/** Cuts messages into turns that can be read. */
function readMessageTurns(
  messages: readonly Message[],
  { sessionId, info }: { readonly sessionId: string; readonly info: RawLine },
): MessageReading {
  const parent = stringOf(info, "parentID");
  return { sessionId, turns: cutMessages(messages), ...(parent !== undefined && parent !== "" && { parent }) };
}

/** Reads one turn, turn_start first; `turn` is 0-based. */
function readMessageTurn({ sessionId, turns, parent }: MessageReading, turn: number): readonly Event[] {
  const cut = turns[turn];
  if (cut === undefined) return [];
  const { id, timestamp } = cut.opener;
  const start: Event = { type: "turn_start", id: `${id}.turn`, timestamp };
  const named = { ...noteOfParent(parent ?? ""), id: `${sessionId.replaceAll(".", "-")}-parent`, timestamp } as Event;
  const origin = turn === 0 && parent !== undefined ? [named] : [];
  return [start, ...origin, ...cut.messages.flatMap(eventsOfMessage)];
}

// How OpenCode resumes a session that jpg wrote: it imports the file into its database and adds only what is missing there. So jpg
// first asks for the stored copy, without plug-ins: a project's plug-ins are programs of the project's authors.

/** The file is kept in jpg's own folder: OpenCode keeps none. */
function planOpenCodeResume(machine: Machine, draft: SessionDraft): ResumePlan {
  const { sessionId } = draft;
  const path = machine.join(userFolder("data", machine), "opencode", `${sessionId}.json`);
  return {
    path,
    before: ["opencode", "import", path],
    held: heldSession(draft),
    command: reopen(sessionId),
    hints: [
      "XDG_DATA_HOME names another folder for jpg's files.",
      "`jpg export --to opencode -o FILE` writes anywhere; `opencode import FILE` takes it.",
    ],
  };
}

function reopen(sessionId: string): readonly string[] {
  return ["opencode", "-s", sessionId];
}

function heldSession(draft: SessionDraft): HeldSession {
  return {
    command: OPENCODE_STORE.print(draft.sessionId),
    isAsWritten: (printed) => {
      const held = heldIn(printed);
      if (held === null || held.session !== draft.sessionId) return null;
      return !held.isReverted && held.messages === heldIn(writeOpenCodeSession(draft))?.messages;
    },
  };
}

/** A printed session. */
interface HeldDocument {
  readonly session: string | undefined;
  /** Whether the user reverted something in it. */
  readonly isReverted: boolean;
  /** The ids of its messages, as one text. */
  readonly messages: string;
}

function heldIn(text: string): HeldDocument | null {
  const document = parseJsonLine(text);
  if (document === null || typeof document === "string") return null;
  const { info, messages } = document;
  if (!isRecord(info) || !Array.isArray(messages)) return null;
  const ids = messages.map((message: unknown) =>
    isRecord(message) ? (stringOf(recordOf(message, "info") ?? {}, "id") ?? "") : "",
  );
  return {
    session: stringOf(info, "id"),
    isReverted: recordOf(info, "revert") !== undefined,
    messages: JSON.stringify(ids.sort()),
  };
}

export const OPENCODE: AgentFormat = {
  name: "opencode",
  agent: { name: "OpenCode", email: "opencode@jpg.invalid" },
  importer: OPENCODE_IMPORTER,
  files: {
    endings: [".json"],
    isNamed: isSessionFile,
    document: () => "json",
    folders: olderFolders,
    directory: openCodeDirectory,
    scattered: { list: listScattered, join: joinScattered },
  },
  store: OPENCODE_STORE,
  detect: isOpenCodeSession,
  sessionId: openCodeSessionId,
  origin: openCodeOrigin,
  descent: openCodeDescent,
  read: readOpenCodeSession,
  write: { sessionId: writtenSessionId, lineId: writtenMessageId, write: writeOpenCodeSession },
  resume: planOpenCodeResume,
  reopen,
  versions: {
    tried: "1.18.33",
    versionOf: (source) => stringOf(parseDocument(source)?.info ?? {}, "version"),
  },
  tools: {
    shell: { name: "bash", keys: { command: "command" } },
    read: { name: "read", keys: { path: "filePath" } },
    write: { name: "write", keys: { path: "filePath", content: "content" } },
    edit: { name: "edit", keys: { path: "filePath", before: "oldString", after: "newString" } },
    search: { name: "grep", keys: { pattern: "pattern", path: "path" } },
    find: { name: "glob", keys: { pattern: "pattern", path: "path" } },
  },
  setup: OPENCODE_SETUP,
  live: OPENCODE_LIVE,
  help: {
    place:
      "OpenCode keeps its sessions in a database, which jpg asks `opencode` for; `opencode export SESSION > FILE` writes one as a file. Versions before 1.2 kept them under ~/.local/share/opencode/storage.",
    file: "session.json",
    reads:
      "What `opencode export` prints, and what versions before 1.2 kept: name `storage/session/PROJECT/SESSION.json`, and the files of its messages and parts are read with it, as one document. A summary becomes a compaction that keeps the same newest messages as OpenCode, cleared results become one too, and what you took back with `/undo` becomes a fork (`--all-branches`).",
    lost: [
      "An answer that is still being written is imported the next time.",
      "Answers that failed become notes: OpenCode does not send them either.",
      "Of other agents' reasoning, only what Anthropic signed is exported.",
    ],
    takes: { file: "session.json", by: "a session that `opencode import FILE` takes" },
  },
};
