// Notes: what the agent wrote down and no model sees. They keep the small plain values of a record; the whole lives on in the
// sources of the conversation.
import type { Event } from "../../core/conversation/event.ts";
import { type RawLine, recordOf, stringOf } from "../json-line.ts";
import { plainValues, shorten } from "../plain-values.ts";
import { messageParts } from "./message-pieces.ts";
import { isSessionHeader } from "./records.ts";

/** What every record has, and says nothing about this one. */
const ENVELOPE: ReadonlySet<string> = new Set(["type", "id", "timestamp", "sessionId", "projectHash", "lastUpdated"]);

/** Creates the note of a record. */
export function noteOfRecord(
  record: RawLine,
  { id, timestamp }: { readonly id: string; readonly timestamp: string },
): Event {
  const text = messageParts(record["content"])
    .flatMap((part) => stringOf(part, "text") ?? [])
    .join("");
  const values = { ...plainValues(recordOf(record, "$set") ?? record), ...(text !== "" && { content: shorten(text) }) };
  const data = Object.fromEntries(Object.entries(values).filter(([key]) => !ENVELOPE.has(key)));
  return { type: "note", id, timestamp, kind: noteKind(record), ...(Object.keys(data).length > 0 && { data }) };
}

/** A sub-agent's session says that it is one, and not whose. */
function noteKind(record: RawLine): string {
  if (isSessionHeader(record)) return "subagent_session";
  if (recordOf(record, "$set") !== undefined) return "session_data";
  return stringOf(record, "type") ?? "unknown";
}
