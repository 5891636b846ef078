// The messages of a document of Cline's, each with its id, its time and what it says; and the events that they make.
import type { Event } from "../../core/conversation/event.ts";
import { deriveName } from "../derived-name.ts";
import type { SkippedLine } from "../imported-session.ts";
import { type RawLine, recordOf, stringOf } from "../json-line.ts";
import type { SaidEvent } from "../request-body/said.ts";
import { NO_DATE } from "../timestamp.ts";
import type { ClineDocument } from "./document.ts";
import { readClineMessage } from "./read-message.ts";

/** A message that says something. */
export interface ClineMessage {
  readonly id: string;
  readonly timestamp: string;
  readonly said: readonly SaidEvent[];
  readonly isUsers: boolean;
  /** What Cline notes beside it: of what stands in a compacted state, how it came there. */
  readonly about: RawLine;
}

/** Reads the messages of a document; `names` makes ids for those that have none of their own. */
export function placeMessages(
  { messages }: ClineDocument,
  names: string,
): { readonly messages: readonly ClineMessage[]; readonly skipped: readonly SkippedLine[] } {
  const placed: ClineMessage[] = [];
  const skipped: SkippedLine[] = [];
  const ids = new Set<string>();
  let timestamp = NO_DATE;
  for (const [at, message] of messages.entries()) {
    const own = ownId(message);
    const id = own !== "" && !ids.has(own) ? own : `${at}-${names.replaceAll(".", "_")}`;
    ids.add(id);
    timestamp = timeOf(message) ?? timestamp;
    const { said, isUsers } = readClineMessage(message, id);
    if (said.length > 0) placed.push({ id, timestamp, said, isUsers, about: recordOf(message, "metadata") ?? {} });
    else skipped.push({ line: at + 1, reason: "a message without a known role or content" });
  }
  return { messages: placed, skipped };
}

/** Makes the events of a message. */
export function eventsOf({ id, timestamp, said }: ClineMessage): readonly Event[] {
  return said.map(({ type, ...rest }, n) => ({ type, id: n === 0 ? id : `${id}.${n}`, timestamp, ...rest }) as Event);
}

/** The id of a message. Cline adds the id of the call to that of a result's message again each time it saves. */
function ownId(message: RawLine): string {
  const [first = "", call] = (stringOf(message, "id") ?? "").split("_tool_");
  const id = call === undefined ? first : `${first}_tool_${call}`;
  return id === "" || /^[A-Za-z0-9_-]{1,128}$/.test(id) ? id : `id-${deriveName(id)}`;
}

/** Milliseconds since 1970. */
function timeOf(message: RawLine): string | undefined {
  const time = new Date(typeof message["ts"] === "number" ? message["ts"] : Number.NaN);
  const year = time.getUTCFullYear();
  return year >= 1970 && year <= 9999 ? time.toISOString() : undefined;
}
