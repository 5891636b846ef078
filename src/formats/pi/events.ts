// One entry as events. Ids come from the entry's own (`<id>`, `<id>.1`, …), or from session and line for files without ids, so
// that the same bytes give the same events wherever they stand.

import type { Event } from "../../core/conversation/event.ts";
import { defined } from "../../core/json.ts";
import { type RawLine, recordOf, stringOf } from "../json-line.ts";
import { answerEvents, type EventBody } from "./answer-events.ts";
import { contentOfBlocks } from "./content-parts.ts";
import type { Entry } from "./entry-index.ts";
import { bashText, branchText, compactionText } from "./harness-text.ts";
import { roleOf, saidMessage } from "./line.ts";
import { noteOfEntry } from "./notes.ts";
import { isOriginEntry } from "./origin.ts";

/** How an entry is to be read, beyond what it says itself. */
export interface EntryReading {
  readonly entry: Entry;
  readonly raw: RawLine;
  /** Whether it is a prompt that was typed while the agent worked. */
  readonly isQueued: boolean;
  /** Whether it is a summary that stands before everything else. */
  readonly isFirst: boolean;
}

/** Reads the events of one entry; none for what only changes the view, and for titles, which are kept apart. */
export function eventsOfEntry(reading: EntryReading): readonly Event[] {
  const { entry, raw } = reading;
  const bodies = bodiesOf(reading);
  if (bodies === null) return [noteOfEntry(raw, { id: entry.eventId, timestamp: entry.timestamp })];
  return bodies.map((body, position) => {
    const { type, ...rest } = body;
    const id = position === 0 ? entry.eventId : `${entry.eventId}.${position}`;
    return { type, id, timestamp: entry.timestamp, ...rest } as Event;
  });
}

/** Null = it is a note. */
function bodiesOf({ entry, raw, isQueued, isFirst }: EntryReading): readonly EventBody[] | null {
  switch (entry.kind) {
    case "prompt":
      return [request(saidMessage(raw)["content"], isQueued ? { origin: "queued" } : undefined)];
    case "assistant": {
      const bodies = answerEvents(raw, entry.eventId);
      return bodies.length === 0 ? null : bodies;
    }
    case "result":
      return [resultBody(saidMessage(raw))];
    case "harness":
      return [harnessRequest(raw)];
    case "compaction":
      return isFirst ? [request(compactionText(stringOf(raw, "summary") ?? ""), { origin: "summary" })] : [];
    case "edit":
      return [];
    case "failed":
      return null;
    case "side":
      return raw["type"] === "session_info" || isOriginEntry(raw) ? [] : null;
  }
}

function request(content: unknown, metadata?: Readonly<Record<string, unknown>>): EventBody {
  return { type: "chat_request", content: contentOfBlocks(content), ...defined({ metadata }) };
}

function resultBody(message: RawLine): EventBody {
  return {
    type: "tool_call_response",
    call_id: stringOf(message, "toolCallId") ?? "",
    content: contentOfBlocks(message["content"]),
    is_error: message["isError"] === true,
  };
}

/** A harness request keeps the agent's own fields, from which an export to pi writes the same entry. */
function harnessRequest(raw: RawLine): EventBody {
  const { type, id: _, parentId: __, timestamp: ___, ...fields } = raw;
  return request(harnessContent(raw), { origin: "harness", entry: { type, ...fields } });
}

/** What an entry that nobody typed tells the model, as pi puts it. */
export function harnessContent(raw: RawLine): unknown {
  const message = saidMessage(raw);
  const summary = stringOf(raw, "summary") ?? stringOf(message, "summary") ?? "";
  if (raw["type"] === "custom_message") return raw["content"];
  if (raw["type"] === "branch_summary") return branchText(summary);
  switch (roleOf(raw)) {
    case "bashExecution":
      return bashText(message);
    case "branchSummary":
      return branchText(summary);
    case "compactionSummary":
      return compactionText(summary);
    default:
      return message["content"];
  }
}

/** Gives the events of an entry whose content an edit replaced: its own in every other way. */
export function editedEvents(reading: EntryReading, replacement: RawLine): readonly Event[] {
  const { raw } = reading;
  const content = replacement["content"];
  const message = recordOf(raw, "message");
  const edited = message === undefined ? { ...raw, content } : { ...raw, message: { ...message, content } };
  return eventsOfEntry({ ...reading, raw: edited });
}
