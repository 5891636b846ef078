// Imports a rollout of Codex: an index of its lines, cut into turns that are read on demand, its compactions as compactions,
// what the user went back from as abandoned branches. A pure function of the file's text.

import { wordsOfContent } from "../../core/conversation/event.ts";
import { titleOfRequest } from "../../core/conversation/marks.ts";
import { userError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import { deriveName } from "../derived-name.ts";
import { parseExportOrigin } from "../export-origin.ts";
import type { AbandonedBranch, ExportOrigin, ImportedSession } from "../imported-session.ts";
import { createParsedLines, type ParsedLines } from "../parsed-lines.ts";
import type { SessionSource } from "../session-source.ts";
import { readCodexCompactions } from "./compactions.ts";
import { readLineEvent, readRolloutTurn } from "./line-events.ts";
import { indexRollout, type RolloutIndex } from "./rollout-index.ts";
import { parseRolloutLine } from "./rollout-line.ts";
import { createRolloutMark } from "./rollout-mark.ts";
import { readThreadNames } from "./thread-names.ts";
import { type AbandonedTurns, cutRollout, type RolloutTurn, turnAt } from "./turns.ts";

/** Version of this importer: raise it when the same bytes would give other events or records. */
export const CODEX_IMPORTER_VERSION = 2;

/** What a session without a request of the user is called. */
const UNTITLED = "untitled session";
/** The line at which jpg's side line stands: Codex wants the description of the session first. */
const ORIGIN_LINE = 1;

/** Reads a rollout. Bad lines are listed in `skippedLines`. Throws `not_a_session` when no line is Codex's. */
export function readCodexSession(source: SessionSource): ImportedSession {
  const lines = createParsedLines(source, parseRolloutLine);
  const index = indexRollout(lines, source.lineCount);
  if (!index.isCodex) throw notASession(index);
  const { active, abandoned } = cutRollout(index.entries);
  const compactions = readCodexCompactions(lines, active);
  const origin = codexOrigin(source);
  const title = firstTitle(lines, active);
  return {
    format: "codex",
    importer: CODEX_IMPORTER_VERSION,
    sessionId: index.sessionId,
    title: title?.title ?? UNTITLED,
    titles: readThreadNames(index),
    createdAt: index.createdAt,
    ...defined({ cwd: index.cwd }),
    turnCount: active.length,
    readTurn: (turn) => readRolloutTurn(lines, active[turn]),
    turnLine: (turn) => (turn === 0 ? 0 : (active[turn]?.opener.line ?? source.lineCount)),
    hasLine: (id) => index.marks.has(id),
    turnTime: (turn) => active[turn]?.opener.timestamp ?? index.createdAt,
    compactions,
    compactionTurns: new Map(compactions.map(({ id, to_turn }) => [id, to_turn])),
    abandoned: abandoned.map((turns) => toBranch(lines, turns, active)),
    skippedLines: index.skipped,
    ...(origin !== null && { origin }),
    mark: () => createRolloutMark({ index, active, compactions, title }),
  };
}

/** Reads which conversation jpg exported a session from; null for the agent's own. */
export function codexOrigin(source: SessionSource): ExportOrigin | null {
  return source.lineCount > ORIGIN_LINE ? parseExportOrigin(source.line(ORIGIN_LINE)) : null;
}

function toBranch(
  lines: ParsedLines,
  { from, turns }: AbandonedTurns,
  active: readonly RolloutTurn[],
): AbandonedBranch {
  const last = turns.at(-1) as RolloutTurn;
  // Turns before it may have been abandoned later on.
  let common = turns[0]?.previous;
  while (common !== undefined && common !== active[common.index]) common = common.previous;
  return {
    name: `left-${deriveName(from.id).slice(0, 8)}`,
    commonTurns: common === undefined ? 0 : common.index + 1,
    turnCount: last.index + 1,
    readTurn: (turn) => readRolloutTurn(lines, turnAt(last, turn)),
  };
}

/** The first words of the first request, and the turn that they stand in. */
function firstTitle(
  lines: ParsedLines,
  turns: readonly RolloutTurn[],
): { readonly title: string; readonly turn: number } | undefined {
  for (const { index: turn, entries } of turns) {
    for (const entry of entries) {
      if (entry.kind !== "prompt") continue;
      const [event] = readLineEvent(lines, entry);
      const title = event?.type === "chat_request" ? titleOfRequest(askedIn(wordsOfContent(event.content))) : "";
      if (title !== "") return { title, turn };
    }
  }
  return undefined;
}

/** Editors put what they show before the words of the user; Codex names an image before and behind it. */
function askedIn(text: string): string {
  const mark = "## My request for Codex:";
  const at = text.indexOf(mark);
  const words = at < 0 ? text : text.slice(at + mark.length);
  return words.replace(/<image(?: name=\[Image #\d+\][^<>]*)?>|<\/image>/g, " ");
}

function notASession({ skipped }: RolloutIndex): Error {
  const first = skipped[0];
  const found = first === undefined ? "no line of one was found" : `line ${first.line} is ${first.reason}`;
  return userError(
    "not_a_session",
    `The file is not a Codex session: expected JSON lines with \`type\` and \`payload\`, ${found}.`,
    { hints: ["Codex keeps sessions in ~/.codex/sessions/YYYY/MM/DD/rollout-….jsonl."] },
  );
}
