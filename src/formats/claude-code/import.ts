// Imports a Claude Code session: an index of its lines, the path that the agent would resume, its turns read on demand,
// its compactions as compactions. A pure function of the file's text.

import { userError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import { readExportOrigin } from "../export-origin.ts";
import type { ImportedSession } from "../imported-session.ts";
import { createParsedLines, type ParsedLines } from "../parsed-lines.ts";
import type { SessionSource } from "../session-source.ts";
import { toUsableId } from "../usable-id.ts";
import { findAbandoned } from "./abandoned.ts";
import { readAgentCompactions } from "./compactions.ts";
import { listParts } from "./descent.ts";
import { isClaudeLine } from "./detect.ts";
import { parseLine } from "./line.ts";
import { sessionOfLine } from "./named-session.ts";
import { sessionIdOf } from "./session-id.ts";
import { indexSession, type SessionIndex } from "./session-index.ts";
import { firstTitle, readPath } from "./session-reading.ts";
import { createMark } from "./session-state.ts";
import { readTitles } from "./titles.ts";
import { placeList, readToolLists } from "./tool-lists.ts";
import type { TurnCut } from "./turn-cuts.ts";
import { readPlannedTurn } from "./turn-reader.ts";

/** Version of this importer: raise it when the same bytes would give other events or records. */
export const CLAUDE_IMPORTER = 5;

/** What a session without a request of the user is called. */
const UNTITLED = "untitled session";

/** Reads a session. Bad lines are listed in `skippedLines`. Throws `not_a_session` when no line is Claude Code's. */
export function readClaudeSession(source: SessionSource): ImportedSession {
  const lines = createParsedLines(source, parseLine);
  const index = indexSession(lines, source.lineCount);
  if (!hasClaudeLine(lines, index)) throw notASession(index);
  const sessionId = sessionIdOf(index);
  const reading = readPath(lines, index, sessionId);
  const { graph, path, cuts, plan } = reading;
  const compactions = readAgentCompactions({ plan, chain: path.chain, graph });
  const starts = turnStarts(cuts);
  const title = firstTitle(plan);
  const origin = readExportOrigin(index.firstLine);
  const parts = listParts(lines, index);
  const readTurn = (turn: number) => readPlannedTurn(plan, turn);
  return {
    format: "claude-code",
    importer: CLAUDE_IMPORTER,
    sessionId,
    title: title?.title ?? UNTITLED,
    titles: readTitles(index, sessionId),
    toolLists: readToolLists(lines, index.snapshots).map((list) => placeList(list, starts)),
    createdAt: index.createdAt,
    ...defined({ cwd: index.cwd }),
    turnCount: cuts.length,
    readTurn,
    turnLine: (turn) => starts[turn] ?? source.lineCount,
    hasLine: (id) => index.nodes.has(id),
    turnTime: (turn) => cuts[turn]?.opener.timestamp ?? index.createdAt,
    compactions,
    compactionTurns: new Map(compactions.map((compaction) => [compaction.id, compaction.to_turn])),
    abandoned: findAbandoned(index, graph, { path, cuts, plan }),
    skippedLines: index.skipped,
    ...(parts.length > 0 && { parts }),
    ...(origin !== null && { origin }),
    mark: () => createMark(reading, { title, compactions }),
  };
}

/** Gives the id of a session without reading further than the first line that names it; null when none does. */
export function claudeSessionId(source: SessionSource): string | null {
  for (let line = 0; line < source.lineCount; line++) {
    const parsed = parseLine(source.line(line));
    const id = parsed === null || typeof parsed === "string" ? undefined : sessionOfLine(parsed);
    if (id !== undefined) return toUsableId(id);
  }
  return null;
}

function hasClaudeLine(lines: ParsedLines, index: SessionIndex): boolean {
  return index.entries.some((entry) => {
    const line = lines.at(entry.line);
    return line !== null && typeof line !== "string" && isClaudeLine(line);
  });
}

function notASession(index: SessionIndex): Error {
  const first = index.skipped[0];
  const found = first === undefined ? "no line of one was found" : `line ${first.line} is ${first.reason}`;
  return userError(
    "not_a_session",
    `The file is not a Claude Code session: expected JSON lines with \`type\` and \`uuid\`, ${found}.`,
    {
      hints: ["Claude Code keeps sessions in ~/.claude/projects/<project>/<session>.jsonl."],
    },
  );
}

/** Lines at which the turns' pieces of the file begin, 0-based, never falling; turn 0 begins with the file. */
function turnStarts(cuts: readonly TurnCut[]): readonly number[] {
  let last = 0;
  return cuts.map((cut, turn) => {
    if (turn > 0) last = Math.max(last, cut.opener.firstLine);
    return last;
  });
}
