// Imports a session of pi that grew from one of its newest turns on, where that gives what reading it whole would give: each
// entry from there on follows another one of them, and none changes what is sent of earlier ones.
import { defined } from "../../core/json.ts";
import { areTitlesAfter } from "../growing-session.ts";
import type { ImportedSession } from "../imported-session.ts";
import { stringOf } from "../json-line.ts";
import { type NameFilter, openNameFilter } from "../name-filter.ts";
import { createParsedLines } from "../parsed-lines.ts";
import type { SessionMark } from "../session-mark.ts";
import type { SessionSource } from "../session-source.ts";
import { type Entry, type EntryIndex, indexEntries } from "./entry-index.ts";
import { PI_IMPORTER } from "./import.ts";
import { parseSessionLine } from "./line.ts";
import { createSessionMark, type FormerPiMark, type PiState, startsRise } from "./session-mark.ts";
import { readSessionNames } from "./session-names.ts";
import { activePath, createTree } from "./session-tree.ts";
import { listTools } from "./tool-lists.ts";
import { type PathReading, readCut, readTreePath } from "./turn-reader.ts";

/** Reads a session from a mark of its first lines on; null where it has to be read whole. */
export function readPiTail(source: SessionSource, mark: SessionMark): ImportedSession | null {
  const former: FormerPiMark = { ...mark, state: mark.state as PiState };
  const lines = createParsedLines(source, parseSessionLine, mark.line);
  const index = indexEntries(lines, source.lineCount, mark.line);
  const names = openNameFilter(mark.names);
  if (index === null || names === null) return null;
  const reading = readTreePath(lines, index, activePath(index, createTree(index)));
  return isApart(reading, mark.line, names) ? createTail(reading, former, source.lineCount) : null;
}

function createTail(reading: PathReading, former: FormerPiMark, lineCount: number): ImportedSession | null {
  const { lines, index, cuts } = reading;
  const { turn: first, line: firstLine, state } = former;
  const titles = readSessionNames(lines, index.entries, state.lastTitle);
  if (!areTitlesAfter(titles, state.latestStart)) return null;
  const tools = new Map(state.tools.map((tool) => [tool.name, tool]));
  const cwd = stringOf(index.header, "cwd");
  return {
    format: "pi",
    importer: PI_IMPORTER,
    sessionId: index.sessionId,
    title: state.title,
    titles,
    toolLists: listTools(reading, tools).map((list) => ({ ...list, turn: first + list.turn })),
    createdAt: state.createdAt,
    ...defined({ cwd }),
    turnCount: first + cuts.length,
    firstTurn: first,
    readTurn: (turn) => readCut(reading, cuts[turn - first]),
    turnLine: (turn) => cuts[turn - first]?.opener.firstLine ?? lineCount,
    hasLine: (id) => index.nodes.has(id),
    turnTime: (turn) => cuts[turn - first]?.opener.timestamp ?? state.createdAt,
    compactions: [],
    compactionTurns: new Map(),
    abandoned: [],
    skippedLines: [...state.skipped, ...index.skipped.filter(({ line }) => line > firstLine)],
    mark: () => createSessionMark({ reading, placed: [], title: { title: state.title, turn: 0 } }, former),
  };
}

/** Whether nothing from the mark on has to do with the lines before it. */
function isApart({ index, path, cuts }: PathReading, line: number, names: NameFilter): boolean {
  const opener = cuts[0]?.opener;
  return (
    opener?.line === line &&
    opener.firstLine === line &&
    path[0] === opener &&
    opener.kind === "prompt" &&
    !index.nodes.has(opener.parent ?? "") &&
    startsRise(cuts) &&
    index.entries.every((entry) => isOwn(entry, names) && (entry === opener || followsOther(entry, index)))
  );
}

/** Whether an entry's id is new, and it changes nothing of others. */
function isOwn({ id, kind }: Entry, names: NameFilter): boolean {
  return kind !== "compaction" && kind !== "edit" && !names.mayHave(id);
}

/** Whether an entry follows an earlier one from the mark on. */
function followsOther({ parent, line }: Entry, { nodes }: EntryIndex): boolean {
  return parent !== undefined && (nodes.get(parent)?.firstLine ?? line) < line;
}
