// Imports a session of Copilot CLI: an index of its lines, cut into turns that are read on demand. Of its truncations only
// counts are written down, not what was dropped: they are notes. A pure function of the file's text.

import { isUserRequest, wordsOfContent } from "../../core/conversation/event.ts";
import { titleOfRequest } from "../../core/conversation/marks.ts";
import { userError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import type { ImportedSession } from "../imported-session.ts";
import { createParsedLines, type ParsedLines } from "../parsed-lines.ts";
import type { SessionSource } from "../session-source.ts";
import { toUsableId } from "../usable-id.ts";
import { isCopilotLine, parseCopilotLine, sessionBegunBy } from "./line.ts";
import { readCopilotLine, readCopilotTurn } from "./line-events.ts";
import { type CopilotIndex, type CopilotTurn, indexCopilotLines } from "./line-index.ts";

/** Version of this importer: raise it when the same bytes would give other events. */
export const COPILOT_IMPORTER = 1;

/** What a session without a request of the user is called. */
const UNTITLED = "untitled session";
/** How many lines are looked at to tell whose a file is; the first ones may be damaged. */
const LINES_LOOKED_AT = 50;

/** Whether the first lines look like a session of Copilot CLI. */
export function isCopilotSession(source: SessionSource): boolean {
  for (let at = 0; at < Math.min(source.lineCount, LINES_LOOKED_AT); at++) {
    const line = parseCopilotLine(source.line(at));
    if (line !== null && typeof line !== "string" && isCopilotLine(line)) return true;
  }
  return false;
}

/** Gives the id of the session that a file names first; null when it names none. */
export function copilotSessionId(source: SessionSource): string | null {
  for (let at = 0; at < source.lineCount; at++) {
    const line = parseCopilotLine(source.line(at));
    const id = line === null || typeof line === "string" ? undefined : sessionBegunBy(line);
    if (id !== undefined) return toUsableId(id);
  }
  return null;
}

/** Reads a session. Bad lines are listed in `skippedLines`. Throws `not_a_session` when no line is Copilot CLI's. */
export function readCopilotSession(source: SessionSource): ImportedSession {
  const lines = createParsedLines(source, parseCopilotLine);
  const index = indexCopilotLines(lines, source.lineCount);
  if (!index.isCopilot) throw notASession(index);
  const { turns, sessionId, createdAt, cwd, ids, skipped } = index;
  return {
    format: "copilot-cli",
    importer: COPILOT_IMPORTER,
    sessionId,
    title: firstTitle(lines, turns) ?? UNTITLED,
    titles: [],
    createdAt,
    ...defined({ cwd }),
    turnCount: turns.length,
    readTurn: (turn) => readCopilotTurn(lines, turns[turn]),
    turnLine: (turn) => (turn === 0 ? 0 : (turns[turn]?.opener.line ?? source.lineCount)),
    hasLine: (id) => ids.has(id),
    turnTime: (turn) => turns[turn]?.opener.timestamp ?? createdAt,
    compactions: [],
    compactionTurns: new Map(),
    abandoned: [],
    skippedLines: skipped,
  };
}

function firstTitle(lines: ParsedLines, turns: readonly CopilotTurn[]): string | undefined {
  for (const { entries } of turns) {
    for (const entry of entries) {
      const words = readPrompt(lines, entry);
      const title = titleOfRequest(words);
      if (title !== "") return title;
    }
  }
  return undefined;
}

function readPrompt(lines: ParsedLines, entry: CopilotTurn["opener"]): string {
  if (entry.kind !== "prompt") return "";
  const request = readCopilotLine(lines, entry).find(isUserRequest);
  return request === undefined ? "" : wordsOfContent(request.content);
}

function notASession({ skipped }: CopilotIndex): Error {
  const first = skipped[0];
  const found = first === undefined ? "no line of one was found" : `line ${first.line} is ${first.reason}`;
  return userError(
    "not_a_session",
    `The file is not a session of Copilot CLI: expected JSON lines with \`type\`, \`data\` and \`parentId\`, ${found}.`,
    { hints: ["Copilot CLI keeps sessions in ~/.copilot/session-state/<session>/events.jsonl."] },
  );
}
