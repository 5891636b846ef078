// Imports a session of Gemini CLI: an index of its records, cut into turns that are read on demand, its new lists of messages as
// compactions, what was left by going back as branches. A pure function of the file's text.

import { type Event, isUserRequest, wordsOfContent } from "../../core/conversation/event.ts";
import { shownTitle, titleOfRequest } from "../../core/conversation/marks.ts";
import { userError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import { deriveName } from "../derived-name.ts";
import type { AbandonedBranch, ImportedSession } from "../imported-session.ts";
import { stringOf } from "../json-line.ts";
import type { SessionSource } from "../session-source.ts";
import { toUsableId } from "../usable-id.ts";
import { toCompactions } from "./changes.ts";
import { readGeminiTurn, readTurnEntry } from "./events.ts";
import { exportedId, geminiOrigin } from "./origin.ts";
import { findHeader, openRecords, type SessionRecords } from "./records.ts";
import { type GeminiIndex, indexRecords } from "./session-index.ts";
import { type LeftPath, type SessionTurn, turnOfPath } from "./turns.ts";

/** Version of this importer: raise it when the same bytes would give other events or records. */
export const GEMINI_CLI_IMPORTER = 2;

/** What a session without a request of the user is called. */
const UNTITLED = "untitled session";

/** Whether a file is a session of Gemini CLI: it describes one. */
export function isGeminiSession(source: SessionSource): boolean {
  return findHeader(source) !== null;
}

/** Gives the id of a session; null when the file describes none. */
export function geminiSessionId(source: SessionSource): string | null {
  const header = findHeader(source);
  return header === null ? null : toUsableId(stringOf(header, "sessionId") ?? "");
}

/** Reads a session. Bad lines are listed in `skippedLines`. Throws `not_a_session` when none describes one. */
export function readGeminiSession(source: SessionSource): ImportedSession {
  const sessionId = geminiSessionId(source);
  if (sessionId === null) throw notASession();
  const records = openRecords(source);
  const index = indexRecords(records, sessionId);
  const { turns, left } = index.history.turns;
  const compactions = toCompactions(index.history.changes, { turns, records });
  const origin = geminiOrigin(source);
  const exportedAs = exportedId(source);
  return {
    format: "gemini-cli",
    importer: GEMINI_CLI_IMPORTER,
    sessionId,
    title: firstTitle(records, turns) ?? UNTITLED,
    titles: readTitles(index, sessionId),
    createdAt: index.createdAt,
    ...defined({ cwd: index.cwd }),
    turnCount: turns.length,
    readTurn: (turn) => readGeminiTurn(records, turns[turn]),
    turnLine: (turn) => (turn === 0 ? 0 : (turns[turn]?.opener.place.line ?? source.lineCount)),
    hasLine: (id) => index.ids.has(id),
    turnTime: (turn) => turns[turn]?.opener.timestamp ?? index.createdAt,
    compactions,
    compactionTurns: new Map(compactions.map(({ id, to_turn }) => [id, to_turn])),
    abandoned: left.map((one) => toBranch(records, one, turns)),
    skippedLines: index.skipped,
    ...(origin !== null && { origin }),
    ...(origin !== null && exportedAs !== undefined && { exportedAs }),
  };
}

function toBranch(records: SessionRecords, { from, turns }: LeftPath, active: readonly SessionTurn[]): AbandonedBranch {
  const last = turns.at(-1) as SessionTurn;
  // Turns before it may have been left later on.
  let common = turns[0]?.previous;
  while (common !== undefined && common !== active[common.index]) common = common.previous;
  return {
    name: `left-${deriveName(`${from.base} ${from.order}`).slice(0, 8)}`,
    commonTurns: common === undefined ? 0 : common.index + 1,
    turnCount: last.index + 1,
    readTurn: (turn) => readGeminiTurn(records, turnOfPath(last, turn)),
  };
}

function firstTitle(records: SessionRecords, turns: readonly SessionTurn[]): string | undefined {
  for (const { entries } of turns) {
    for (const entry of entries) {
      const title = entry.kind === "prompt" ? titleOf(readTurnEntry(records, entry)) : "";
      if (title !== "") return title;
    }
  }
  return undefined;
}

function titleOf(events: readonly Event[]): string {
  const request = events.find(isUserRequest);
  return request === undefined ? "" : titleOfRequest(wordsOfContent(request.content));
}

/** Later titles, oldest first; repetitions are left out. */
function readTitles({ titles }: GeminiIndex, sessionId: string): ImportedSession["titles"] {
  const shown: { readonly timestamp: string; readonly title: string; readonly id: string }[] = [];
  for (const { line, timestamp, title: given } of titles) {
    const title = shownTitle(given);
    if (title !== "" && title !== shown.at(-1)?.title) shown.push({ timestamp, title, id: `${sessionId}.${line}` });
  }
  return shown;
}

function notASession(): Error {
  return userError(
    "not_a_session",
    "The file is not a session of Gemini CLI: expected `sessionId` and `projectHash` in its first line.",
    { hints: ["Gemini CLI keeps sessions in ~/.gemini/tmp/<project>/chats/session-….jsonl."] },
  );
}
