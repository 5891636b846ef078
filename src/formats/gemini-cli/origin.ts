// jpg's side line in a session of Gemini CLI, which the agent skips and leaves where it is; and the mark beside the first message,
// which stays with that when the agent takes a file into a session of its own.
import { createOriginLine, readExportOrigin } from "../export-origin.ts";
import type { ExportOrigin } from "../imported-session.ts";
import { isRecord, parseJsonLine, type RawLine, recordOf, stringOf } from "../json-line.ts";
import type { SessionSource } from "../session-source.ts";

/** The key of the mark beside a message. */
export const ORIGIN_MARK = "jpg";
/** The lines that may hold it: those behind the description of the session. */
const LINES_LOOKED_AT = 4;
/** jpg's own line is short, and so is what stands before the mark. Characters. */
const LONGEST = 4096;

/** Reads the conversation that jpg exported a session from; null for the agent's own. Never throws. */
export function geminiOrigin(source: SessionSource): ExportOrigin | null {
  return readExportOrigin(findOrigin(source));
}

/** The id that a session had when jpg exported it, where the agent copied it into one with another. Absent = not exported. */
export function exportedId(source: SessionSource): string | undefined {
  const found = findOrigin(source);
  return found === undefined ? undefined : stringOf(found, "sessionId");
}

/** Creates the side line, and the mark. */
export function createOriginMark(origin: ExportOrigin, sessionId: string): RawLine {
  return createOriginLine(origin, sessionId);
}

function findOrigin(source: SessionSource): RawLine | undefined {
  for (let at = 1; at < Math.min(source.lineCount, LINES_LOOKED_AT); at++) {
    const text = source.line(at);
    if (!text.slice(0, LONGEST).includes('"jpg-origin"')) continue;
    const line = parseJsonLine(text);
    if (!isRecord(line)) continue;
    return recordOf(line, ORIGIN_MARK) ?? line;
  }
  return undefined;
}
