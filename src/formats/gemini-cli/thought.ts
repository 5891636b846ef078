// Thoughts of the model: a subject and what it says of it. The agent shows them and never sends them again.
import { type Event, plainText } from "../../core/conversation/event.ts";
import { type RawLine, stringOf } from "../json-line.ts";

const WORDED = /^\*\*([^*\n]+)\*\* ([\s\S]*)$/;

/** Gives a thought as the agent words it. */
export function thoughtText(thought: RawLine): string {
  const subject = stringOf(thought, "subject") ?? "";
  const description = stringOf(thought, "description") ?? "";
  return subject === "" ? description : `**${subject}** ${description}`;
}

/** Gives reasoning as a thought; absent for that of other makers, which this agent never had. */
export function toThought(event: Event): RawLine | undefined {
  if (event.type !== "chat_response" || event.reasoning === undefined) return undefined;
  if (event.metadata?.provider !== "google") return undefined;
  const text = plainText(event.reasoning);
  const [, subject = "", description = text] = WORDED.exec(text) ?? [];
  return text.trim() === "" ? undefined : { subject, description, timestamp: event.timestamp };
}
