// Imports a session that grew from one of its newest turns on, where that gives what reading it whole would give: nothing on
// the later lines may have to do with the earlier ones, but for the opener that follows them.
import { defined } from "../../core/json.ts";
import type { ImportedSession } from "../imported-session.ts";
import { stringOf } from "../json-line.ts";
import { type NameFilter, openNameFilter } from "../name-filter.ts";
import { createParsedLines } from "../parsed-lines.ts";
import type { SessionMark } from "../session-mark.ts";
import type { SessionSource } from "../session-source.ts";
import { listParts } from "./descent.ts";
import { CLAUDE_IMPORTER } from "./import.ts";
import { parseLine } from "./line.ts";
import { indexSession, type LineEntry, type SessionIndex } from "./session-index.ts";
import { readPath, type SessionReading } from "./session-reading.ts";
import { createMark, type FormerMark, hasRisingStarts, type SessionState } from "./session-state.ts";
import { readTitles } from "./titles.ts";
import { placeList, readToolLists } from "./tool-lists.ts";
import { readPlannedTurn } from "./turn-reader.ts";

/** Reads a session from a mark of its first lines on; null where it has to be read whole. */
export function readClaudeTail(source: SessionSource, mark: SessionMark): ImportedSession | null {
  const former: FormerMark = { ...mark, state: mark.state as SessionState };
  const names = openNameFilter(mark.names);
  if (names === null) return null;
  const { line, state } = former;
  const lines = createParsedLines(source, parseLine, line);
  const index = indexSession(lines, source.lineCount, { ...state, line });
  const reading = readPath(lines, index, state.sessionId);
  return isApart(reading, former, names) ? createTail(reading, former, source.lineCount) : null;
}

function createTail(reading: SessionReading, former: FormerMark, lineCount: number): ImportedSession {
  const { index, cuts, plan } = reading;
  const { turn: first, state } = former;
  const starts = cuts.map(({ opener }) => opener.firstLine);
  const parts = listParts(plan.source, index);
  return {
    format: "claude-code",
    importer: CLAUDE_IMPORTER,
    sessionId: state.sessionId,
    title: state.title,
    titles: readTitles(index, state.sessionId, state.lastTitle),
    toolLists: readToolLists(plan.source, index.snapshots, state.lastSnapshot).map((list) =>
      placeList(list, starts, first),
    ),
    createdAt: state.createdAt,
    ...defined({ cwd: state.cwd }),
    turnCount: first + cuts.length,
    firstTurn: first,
    readTurn: (turn) => readPlannedTurn(plan, turn - first),
    turnLine: (turn) => cuts[turn - first]?.opener.firstLine ?? lineCount,
    hasLine: (id) => index.nodes.has(id),
    turnTime: (turn) => cuts[turn - first]?.opener.timestamp ?? state.createdAt,
    compactions: [],
    compactionTurns: new Map(),
    abandoned: [],
    skippedLines: [...state.skipped, ...index.skipped],
    ...(parts.length > 0 && { parts }),
    mark: () => createMark(reading, { title: null, compactions: [] }, former),
  };
}

/** Whether nothing from the mark on has to do with the lines before it. */
function isApart({ index, path, cuts, plan }: SessionReading, { line, state }: FormerMark, names: NameFilter): boolean {
  const opener = cuts[0]?.opener;
  return (
    opener?.line === line &&
    opener.firstLine === line &&
    path.chain[0] === opener &&
    (opener.kind === "prompt" || plan.requests.has(opener)) &&
    !index.nodes.has(opener.parent ?? "") &&
    hasRisingStarts(cuts) &&
    index.entries.every((entry) => isOwn(entry, names) && (entry === opener || hangsOnOthers(entry, index))) &&
    hasOwnLeaf(index, names) &&
    index.titles.every(({ timestamp, raw }) => {
      const leaf = stringOf(raw, "leafUuid") ?? "";
      return Date.parse(timestamp) >= state.latestStart && (index.nodes.has(leaf) || !names.mayHave(leaf));
    })
  );
}

/** Whether a line's names are new; a line that another one names as its parent has that name itself. */
function isOwn({ uuid, messageId, calls = [] }: LineEntry, names: NameFilter): boolean {
  return ![uuid, messageId, ...calls].some((name) => name !== undefined && names.mayHave(name));
}

/** Whether a line follows an earlier one from the mark on, or none without beginning the conversation anew. */
function hangsOnOthers({ kind, uuid, parent, line, isMessage, isSidechain }: LineEntry, index: SessionIndex): boolean {
  if (kind === "boundary" || kind === "summary") return false;
  if (uuid === undefined) return true;
  return parent === undefined ? !isMessage || isSidechain : (index.nodes.get(parent)?.firstLine ?? line) < line;
}

/** Whether the newest line that says where the conversation stood says so of a line from the mark on, or of none of this file. */
function hasOwnLeaf(index: SessionIndex, names: NameFilter): boolean {
  const newest = index.promptLeaves.at(-1);
  return newest === undefined || index.nodes.has(newest.uuid) || !names.mayHave(newest.uuid);
}
