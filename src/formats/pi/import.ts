// Imports a pi session: an index of its entries, the path that the agent would resume, its turns read on demand, its compactions
// and edits as compactions. A pure function of the file's text.

import { isUserRequest, wordsOfContent } from "../../core/conversation/event.ts";
import { titleOfRequest } from "../../core/conversation/marks.ts";
import { userError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import type { ImportedSession } from "../imported-session.ts";
import { stringOf } from "../json-line.ts";
import { createParsedLines } from "../parsed-lines.ts";
import type { SessionSource } from "../session-source.ts";
import { findLeftBranches } from "./abandoned.ts";
import { listPiCompactions } from "./compactions.ts";
import { idOfHeader, indexEntries } from "./entry-index.ts";
import { isHeader, parseSessionLine } from "./line.ts";
import { exportedSessionId, readPiOrigin } from "./origin.ts";
import { createSessionMark } from "./session-mark.ts";
import { readSessionNames } from "./session-names.ts";
import { activePath, createTree } from "./session-tree.ts";
import { listTools } from "./tool-lists.ts";
import type { PathTurn } from "./turn-cuts.ts";
import { type PathReading, readTreePath, readTurn } from "./turn-reader.ts";

/** Version of this importer: raise it when the same bytes would give other events or records. */
export const PI_IMPORTER = 1;

/** What a session without a request of the user is called. */
const UNTITLED = "untitled session";
/** How many lines are looked at for the header: blank and damaged ones may stand before it. */
const LINES_LOOKED_AT = 50;

/** Whether a file is a session of pi: its first line that can be read is a header. */
export function isPiSession(source: SessionSource): boolean {
  return piSessionId(source) !== null;
}

/** Gives the id of a session from its header; null when the file does not begin with one. */
export function piSessionId(source: SessionSource): string | null {
  for (let line = 0; line < Math.min(source.lineCount, LINES_LOOKED_AT); line++) {
    const parsed = parseSessionLine(source.line(line));
    if (parsed !== null && typeof parsed !== "string") return isHeader(parsed) ? idOfHeader(parsed) : null;
  }
  return null;
}

/** Reads a session. Bad lines are listed in `skippedLines`. Throws `not_a_session` when the first line is no header. */
export function readPiSession(source: SessionSource): ImportedSession {
  const lines = createParsedLines(source, parseSessionLine);
  const index = indexEntries(lines, source.lineCount);
  if (index === null) throw notASession();
  const tree = createTree(index);
  const reading = readTreePath(lines, index, activePath(index, tree));
  const { cuts } = reading;
  const placed = listPiCompactions(reading, tree);
  const starts = turnStarts(cuts);
  const cwd = stringOf(index.header, "cwd");
  const origin = readPiOrigin(source);
  const exportedAs = exportedSessionId(source);
  const title = firstTitle(reading);
  return {
    format: "pi",
    importer: PI_IMPORTER,
    sessionId: index.sessionId,
    title: title?.title ?? UNTITLED,
    titles: readSessionNames(lines, index.entries),
    toolLists: listTools(reading, new Map()),
    createdAt: index.createdAt,
    ...defined({ cwd }),
    turnCount: cuts.length,
    readTurn: (turn) => readTurn(reading, turn),
    turnLine: (turn) => starts[turn] ?? source.lineCount,
    hasLine: (id) => index.nodes.has(id),
    turnTime: (turn) => cuts[turn]?.opener.timestamp ?? index.createdAt,
    compactions: placed.map(({ compaction }) => compaction),
    compactionTurns: new Map(placed.map(({ compaction, turn }) => [compaction.id, turn])),
    abandoned: findLeftBranches(reading, tree),
    skippedLines: index.skipped,
    ...(origin !== null && { origin }),
    ...(origin !== null && exportedAs !== undefined && { exportedAs }),
    mark: () => createSessionMark({ reading, placed, title }),
  };
}

function notASession(): Error {
  return userError(
    "not_a_session",
    'The file is not a pi session: expected a first line of `"type":"session"` with an `id`.',
    { hints: ["pi keeps sessions in ~/.pi/agent/sessions/--<project>--/<time>_<session>.jsonl."] },
  );
}

/** Lines at which the turns' pieces of the file begin, 0-based, never falling; turn 0 begins with the file. */
function turnStarts(cuts: readonly PathTurn[]): readonly number[] {
  let last = 0;
  return cuts.map(({ opener }, turn) => {
    if (turn > 0) last = Math.max(last, opener.firstLine);
    return last;
  });
}

/** The first words of the first request, and the turn that they stand in. */
function firstTitle(reading: PathReading): { readonly title: string; readonly turn: number } | undefined {
  for (const turn of reading.cuts.keys()) {
    for (const event of readTurn(reading, turn)) {
      if (!isUserRequest(event)) continue;
      const title = titleOfRequest(wordsOfContent(event.content));
      if (title !== "") return { title, turn };
    }
  }
  return undefined;
}
