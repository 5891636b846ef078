// Imports a rollout that grew from one of its newest turns on; where Codex compacted since, or the user went back, the file is
// read whole.
import { defined } from "../../core/json.ts";
import { areTitlesAfter } from "../growing-session.ts";
import type { ImportedSession } from "../imported-session.ts";
import { createParsedLines } from "../parsed-lines.ts";
import type { SessionMark } from "../session-mark.ts";
import type { SessionSource } from "../session-source.ts";
import { CODEX_IMPORTER_VERSION } from "./import.ts";
import { readRolloutTurn } from "./line-events.ts";
import { indexRollout } from "./rollout-index.ts";
import { parseRolloutLine } from "./rollout-line.ts";
import { createRolloutMark, type FormerRolloutMark, onlyAddsTurns, type RolloutState } from "./rollout-mark.ts";
import { readThreadNames } from "./thread-names.ts";
import { cutRollout } from "./turns.ts";

/** Reads a rollout from a mark of its first lines on; null where it has to be read whole. */
export function readCodexTail(source: SessionSource, mark: SessionMark): ImportedSession | null {
  const former: FormerRolloutMark = { turn: mark.turn, state: mark.state as RolloutState };
  const { state, turn: first } = former;
  const lines = createParsedLines(source, parseRolloutLine, mark.line);
  const index = indexRollout(lines, source.lineCount, state);
  const { active } = cutRollout(index.entries, state.held);
  const title = { title: state.title, turn: 0 };
  const isApart =
    active[0]?.opener.line === mark.line &&
    onlyAddsTurns(index, mark.line) &&
    areTitlesAfter(index.titles, state.latestStart);
  if (!isApart) return null;
  return {
    format: "codex",
    importer: CODEX_IMPORTER_VERSION,
    sessionId: state.sessionId,
    title: state.title,
    titles: readThreadNames(index, state.lastTitle),
    createdAt: index.createdAt,
    ...defined({ cwd: index.cwd }),
    turnCount: first + active.length,
    firstTurn: first,
    readTurn: (turn) => readRolloutTurn(lines, active[turn - first]),
    turnLine: (turn) => active[turn - first]?.opener.line ?? source.lineCount,
    hasLine: () => false,
    turnTime: (turn) => active[turn - first]?.opener.timestamp ?? index.createdAt,
    compactions: [],
    compactionTurns: new Map(),
    abandoned: [],
    skippedLines: [...state.skipped, ...index.skipped],
    mark: () => createRolloutMark({ index, active, compactions: [], title }, former),
  };
}
