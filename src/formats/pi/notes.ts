// Notes: what no model sees. They keep the small plain values of an entry; the whole line lives on in the sources.
import type { Event } from "../../core/conversation/event.ts";
import { type RawLine, recordOf, stringOf } from "../json-line.ts";
import { plainValues, shorten } from "../plain-values.ts";
import { blocksOf, roleOf, saidMessage } from "./line.ts";

/** Keys that every entry carries and that say nothing about this one. */
const ENVELOPE: ReadonlySet<string> = new Set(["type", "id", "parentId", "timestamp", "role"]);

/** What a note needs beside the line itself. */
export interface EntryPlace {
  readonly id: string;
  /** RFC 3339 UTC. */
  readonly timestamp: string;
}

/** Creates the note of an entry that no model sees. */
export function noteOfEntry(line: RawLine, { id, timestamp }: EntryPlace): Event {
  const said = saidMessage(line);
  const values = {
    ...plainValues(line),
    ...plainValues(recordOf(line, "data") ?? {}),
    ...plainValues(said),
    ...spoken(said),
  };
  const data = Object.fromEntries(Object.entries(values).filter(([key]) => !ENVELOPE.has(key)));
  return { type: "note", id, timestamp, kind: noteKind(line), ...(Object.keys(data).length > 0 && { data }) };
}

/** Creates the note of a session that was split off another. */
export function createParentNote(parent: string, { id, timestamp }: EntryPlace): Event {
  return { type: "note", id, timestamp, kind: "parent_session", data: { path: parent } };
}

function noteKind(line: RawLine): string {
  const type = stringOf(line, "type") ?? "unknown";
  if (type !== "message") return type;
  const role = roleOf(line);
  const reason = saidMessage(line)["stopReason"];
  if (role === "assistant" && reason === "aborted") return "aborted_answer";
  if (role === "assistant" && reason === "error") return "failed_answer";
  if (role === "bashExecution") return "bash_execution";
  return role === "system" ? "system_prompt" : role === "" ? type : role;
}

/** What a message says, and what an answer would have called. */
function spoken(message: RawLine): RawLine {
  const blocks = blocksOf(message["content"]);
  const text = blocks.flatMap((block) => stringOf(block, "text") ?? []).join("\n");
  const calls = blocks.flatMap((block) => (block["type"] === "toolCall" ? (stringOf(block, "name") ?? []) : []));
  return {
    ...(text !== "" && { text: shorten(text) }),
    ...(calls.length > 0 && { calls }),
    ...(message["usage"] !== undefined && { usage: message["usage"] }),
  };
}
