// Rollouts of April and May 2025: one JSON document, `{session: {id, timestamp, instructions}, items: […]}`, rewritten on each save.
// Read as the lines that later versions wrote: the description, then an item each.
import {
  isRecord,
  NO_DATE,
  type ParsedLines,
  parseJsonDocument,
  type RawLine,
  readTimestamp,
  recordOf,
  type SessionSource,
  stringOf,
} from "../session-source.ts";

/** Lines, and their number. */
export interface DocumentLines extends ParsedLines {
  readonly count: number;
}

/** The document of a rollout as lines; null for any other file. Never throws. */
export function documentLines(source: SessionSource): DocumentLines | null {
  const value = parseJsonDocument(source);
  const session = isRecord(value) ? recordOf(value, "session") : undefined;
  const items = isRecord(value) ? value["items"] : undefined;
  if (session === undefined || stringOf(session, "id") === undefined || !Array.isArray(items)) return null;
  const timestamp = readTimestamp(session["timestamp"]) ?? NO_DATE;
  const lineAt = (at: number): RawLine | string => {
    if (at === 0) return { timestamp, type: "session_meta", payload: session };
    const item: unknown = items[at - 1];
    return isRecord(item) ? { timestamp, type: "response_item", payload: item } : "not a JSON object";
  };
  return { count: items.length + 1, at: lineAt };
}
