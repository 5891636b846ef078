// jpg's side line in a session of pi: an entry of an extension's own kind, which pi keeps and never sends. It is the second line,
// since the first must be pi's header.
import { createOriginLine, readExportOrigin } from "../export-origin.ts";
import type { ExportOrigin } from "../imported-session.ts";
import { type RawLine, recordOf, stringOf } from "../json-line.ts";
import type { SessionSource } from "../session-source.ts";
import { parseSessionLine } from "./line.ts";

/** Names jpg's entries among those of extensions. */
const CUSTOM_TYPE = "jpg-origin";
/** The line that holds it, 0-based. */
const ORIGIN_LINE = 1;
/** jpg's own entry is short. Bytes. */
const LONGEST = 4096;

/** Creates the body of the entry. */
export function createOriginBody(origin: ExportOrigin, sessionId: string): RawLine {
  return { type: "custom", customType: CUSTOM_TYPE, data: createOriginLine(origin, sessionId) };
}

/** Whether an entry is jpg's side line. */
export function isOriginEntry(line: RawLine): boolean {
  return line["type"] === "custom" && line["customType"] === CUSTOM_TYPE;
}

/** Reads the conversation that jpg exported a session from; null for pi's own. Never throws. */
export function readPiOrigin(source: SessionSource): ExportOrigin | null {
  return readExportOrigin(originData(source));
}

/** The id that a session had when jpg exported it; pi's forks are copies with another one. Absent = not exported. */
export function exportedSessionId(source: SessionSource): string | undefined {
  const data = originData(source);
  return data === undefined ? undefined : stringOf(data, "sessionId");
}

function originData(source: SessionSource): RawLine | undefined {
  if (source.lineCount <= ORIGIN_LINE) return undefined;
  if (source.lineStart(ORIGIN_LINE + 1) - source.lineStart(ORIGIN_LINE) > LONGEST) return undefined;
  const line = parseSessionLine(source.line(ORIGIN_LINE));
  const isOrigin = line !== null && typeof line !== "string" && isOriginEntry(line);
  return isOrigin ? recordOf(line, "data") : undefined;
}
