// Imports a session of OpenCode: its messages as turns, read on demand, its summaries and cleared results as compactions. A pure
// function of the document's text.

import { isUserRequest, wordsOfContent } from "../../core/conversation/event.ts";
import { shownTitle, titleOfRequest } from "../../core/conversation/marks.ts";
import { userError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import { deriveName } from "../derived-name.ts";
import type { ExportOrigin, ImportedSession } from "../imported-session.ts";
import { recordOf, stringOf } from "../json-line.ts";
import type { SessionSource } from "../session-source.ts";
import { NO_DATE } from "../timestamp.ts";
import { listOpenCodeCompactions } from "./compactions.ts";
import { createLeftBranch } from "./left-branch.ts";
import { readMessages } from "./messages.ts";
import { documentOrigin } from "./origin.ts";
import { parseDocument, type SessionDocument, timeOf } from "./session-document.ts";
import { type MessageReading, readMessageTurn, readMessageTurns } from "./turn-reader.ts";

/** Version of this importer: raise it when the same bytes would give other events or records. */
export const OPENCODE_IMPORTER = 1;

/** What a session without a request of the user is called. */
const UNTITLED = "untitled session";
/** What the agent calls sessions that have no title yet. */
const NO_TITLE = /^(?:New|Child) session - \d{4}-\d\d-\d\dT/;

/** Whether a file is a session as OpenCode exports it. */
export function isOpenCodeSession(source: SessionSource): boolean {
  const document = parseDocument(source);
  if (document === null) return false;
  const { info, messages, skipped } = document;
  return messages.length > 0 || skipped.length === 0 || stringOf(info, "id")?.startsWith("ses") === true;
}

/** Gives the id of a session; null when the file is none. */
export function openCodeSessionId(source: SessionSource): string | null {
  return parseDocument(source)?.sessionId ?? null;
}

/** Gives the conversation that jpg exported a session from; null for OpenCode's own. */
export function openCodeOrigin(source: SessionSource): ExportOrigin | null {
  const document = parseDocument(source);
  return document === null ? null : documentOrigin(document);
}

/** Reads a session. What is no message is listed in `skippedLines`. Throws `not_a_session`. */
export function readOpenCodeSession(source: SessionSource): ImportedSession {
  const document = parseDocument(source);
  if (document === null) throw notASession();
  const { sessionId, info } = document;
  const { active, reverted, skipped } = readMessages(document);
  const reading = readMessageTurns(active, document);
  const left = reverted === undefined ? null : createLeftBranch(reading, readMessageTurns(reverted, document));
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
    ...defined({ cwd }),
    turnCount: reading.turns.length,
    readTurn: (turn) => readMessageTurn(reading, turn),
    turnLine: () => 0,
    hasLine: (id) => ids.has(id),
    turnTime: (turn) => reading.turns[turn]?.opener.timestamp ?? createdAt,
    compactions: placed.map(({ compaction }) => compaction),
    compactionTurns: new Map(placed.map(({ compaction, turn }) => [compaction.id, turn])),
    abandoned: left === null ? [] : [left],
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

/** The title that the agent gave; the document does not say when. */
function readTitles({ info, sessionId }: SessionDocument, timestamp: string): ImportedSession["titles"] {
  const title = shownTitle(stringOf(info, "title") ?? "");
  if (title === "" || NO_TITLE.test(title)) return [];
  return [{ timestamp, title, id: deriveName(`${sessionId}.${title}`) }];
}
