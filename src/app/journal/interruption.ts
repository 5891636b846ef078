// The mark of a turn that did not end as it should: a note, which no model is sent. Made the same way by whoever commits the
// turn, so that it is the same however often that is tried.
import type { Event, Note } from "../../core/conversation/event.ts";

/** What ended a turn early: the user, the provider, its own number of tool calls, or the end of its process. */
export type InterruptionReason = "user" | "provider" | "error" | "process_ended";

/** The note at the end of an interrupted turn; `start` = id of its first event. */
export function interruptionNote(start: string, reason: InterruptionReason, timestamp: string): Note {
  return { type: "note", id: `${start}-interrupted`, timestamp, kind: "interrupted", data: { reason } };
}

/** Whether a model said or did anything in a turn: without that, the turn is not kept. */
export function hasAnswer(events: readonly Event[]): boolean {
  return events.some(({ type }) => type === "chat_response" || type === "tool_call_request");
}
