// The side line of an exported session: which conversation, branch and commit it shows. What a file says is checked by whoever
// believes it: anybody may write one.
import type { ExportOrigin } from "./imported-session.ts";

const ORIGIN_TYPE = "jpg-origin";
/** Version of the side line; a reader ignores newer ones. */
const ORIGIN_FORMAT = 1;

/** Creates the side line of a session. The agent must ignore and keep it. */
export function createOriginLine(origin: ExportOrigin, sessionId: string): Readonly<Record<string, unknown>> {
  return { type: ORIGIN_TYPE, format: ORIGIN_FORMAT, ...origin, sessionId };
}

/** Whether a parsed line is the side line of a session, of any version. */
export function isOriginLine(line: Readonly<Record<string, unknown>>): boolean {
  return line["type"] === ORIGIN_TYPE;
}

/** Reads the origin from a parsed side line; null when jpg did not write it. Never throws. */
export function readExportOrigin(line: unknown): ExportOrigin | null {
  if (typeof line !== "object" || line === null || !("type" in line) || line.type !== ORIGIN_TYPE) return null;
  const { format, conversation, branch, commit, turn } = line as Readonly<Record<string, unknown>>;
  if (format !== ORIGIN_FORMAT) return null;
  if (typeof conversation !== "string" || typeof branch !== "string" || typeof commit !== "string") return null;
  const hasTurn = Number.isSafeInteger(turn) && Number(turn) >= 0;
  return { conversation, branch, commit, ...(hasTurn ? { turn: Number(turn) } : {}) };
}

/** Reads the origin from the text of a side line; null when it is none. Never throws. */
export function parseExportOrigin(text: string): ExportOrigin | null {
  if (text.length > LONGEST_ORIGIN) return null;
  try {
    return readExportOrigin(JSON.parse(text.replace(/^\uFEFF/, "")));
  } catch {
    return null; // not jpg's side line; the importer reports lines that cannot be read
  }
}

/** jpg's own line is short. Characters. */
const LONGEST_ORIGIN = 4096;
