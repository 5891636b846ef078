// Notes: what the agent wrote down for itself. They keep the small plain values of a line; the whole line lives on in
// the sources of the conversation.
import type { Event } from "../../core/conversation/event.ts";
import { isRecord, type RawLine, recordOf, stringOf } from "../json-line.ts";
import { isPlain, plainValues, shorten } from "../plain-values.ts";

/** Keys that every line carries and that say nothing about this one. */
const ENVELOPE: ReadonlySet<string> = new Set([
  ..."type uuid parentUuid logicalParentUuid sessionId session_id timestamp isSidechain userType cwd version gitBranch".split(
    " ",
  ),
  ..."slug entrypoint requestId sessionKind isMeta isApiErrorMessage level".split(" "),
]);

/** What a note needs beside the line itself. */
export interface NotePlace {
  readonly id: string;
  /** RFC 3339 UTC. */
  readonly timestamp: string;
}

/** Creates the note of a line that no model sees. */
export function createNote(line: RawLine, { id, timestamp }: NotePlace): Event {
  const data = smallValues(line);
  return { type: "note", id, timestamp, kind: noteKind(line), ...(Object.keys(data).length > 0 && { data }) };
}

function noteKind(line: RawLine): string {
  const type = stringOf(line, "type") ?? "unknown";
  if (line["isApiErrorMessage"] === true) return "api_error";
  if (type === "system") return stringOf(line, "subtype") ?? "system";
  if (type === "attachment") return stringOf(recordOf(line, "attachment") ?? {}, "type") ?? type;
  return type.replaceAll("-", "_");
}

function smallValues(line: RawLine): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(line)) {
    if (ENVELOPE.has(key) || key === "subtype") continue;
    if (key === "data" || key === "attachment") Object.assign(values, plainValues(recordOf(line, key) ?? {}));
    else if (key === "message") copyText(values, recordOf(line, key) ?? {});
    else if (isPlain(value)) values[key] = shorten(value);
  }
  return values;
}

/** The first text of a message that is not sent, such as the wording of an API error. */
function copyText(values: Record<string, unknown>, message: RawLine): void {
  const content = message["content"];
  const first = Array.isArray(content) ? content.find(isRecord) : undefined;
  const text = typeof content === "string" ? content : first === undefined ? undefined : stringOf(first, "text");
  if (text !== undefined) values["text"] = shorten(text);
}
