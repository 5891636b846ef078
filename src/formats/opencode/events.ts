// One message as events. Ids come from the message's own (`<id>`, `<id>.1`, …), so that the same document gives the same events.
import type { ContentPart, Event } from "../../core/conversation/event.ts";
import { type RawLine, stringOf } from "../json-line.ts";
import { eventsOfAnswer } from "./answer-events.ts";
import { contentOfParts, isSentFile, toFilePart } from "./content-parts.ts";
import type { Message } from "./messages.ts";
import { isNoted, noteOfAnswer, noteOfPart, type UnplacedEvent } from "./notes.ts";

/** What the agent says in the user's name, in its own words (1.18). */
export const SUMMARY_QUESTION = "What did we do so far?";
const SUBTASK_TEXT = "The following tool was executed by the user";

/** Reads the events of a message; none for one that says nothing. */
export function eventsOfMessage(message: Message): readonly Event[] {
  return bodiesOf(message).map(({ type, ...rest }, position) => {
    const id = position === 0 ? message.id : `${message.id}.${position}`;
    return { type, id, timestamp: message.timestamp, ...rest } as Event;
  });
}

function bodiesOf(message: Message): readonly UnplacedEvent[] {
  const { kind, info, parts, id } = message;
  if (kind === "failed") return [noteOfAnswer(message)];
  if (message.role === "assistant") return eventsOfAnswer(info, parts, id);
  return requestEvents(parts, kind === "queued");
}

/** What was typed, and what the agent put in, each run of parts a request of its own. */
function requestEvents(parts: readonly RawLine[], isQueued: boolean): readonly UnplacedEvent[] {
  const runs: { readonly isTyped: boolean; readonly content: ContentPart[] }[] = [];
  const notes: UnplacedEvent[] = [];
  for (const part of parts) {
    const said = sentPart(part);
    if (said === null) {
      if (isNoted(part)) notes.push(noteOfPart(part));
      continue;
    }
    const isTyped = part["synthetic"] !== true && (part["type"] === "text" || part["type"] === "file");
    const run = runs.at(-1);
    if (run?.isTyped === isTyped) run.content.push(said);
    else runs.push({ isTyped, content: [said] });
  }
  const requests = runs.map(({ isTyped, content }): UnplacedEvent => {
    const origin = isTyped ? (isQueued ? "queued" : undefined) : "harness";
    return {
      type: "chat_request",
      content: contentOfParts(content),
      ...(origin !== undefined && { metadata: { origin } }),
    };
  });
  return [...requests, ...notes];
}

/** What is sent of a part of a user's message; null = nothing. */
function sentPart(part: RawLine): ContentPart | null {
  switch (part["type"]) {
    case "text": {
      const text = stringOf(part, "text") ?? "";
      return text === "" || part["ignored"] === true ? null : { type: "text", text };
    }
    case "file":
      return isSentFile(part) ? toFilePart(part) : null;
    case "compaction":
      return { type: "text", text: SUMMARY_QUESTION };
    case "subtask":
      return { type: "text", text: SUBTASK_TEXT };
    default:
      return null;
  }
}
