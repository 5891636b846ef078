// When somebody last said something in a conversation or a session: lists are ordered by it, so that importing, compacting or undoing
// something makes none newer.
import type { Turn } from "../../core/conversation/event.ts";

/** Returns the time of the last event, RFC 3339 UTC with milliseconds; undefined if there is none or it has no time. */
export function lastMessageTime(events: Turn["events"] | undefined): string | undefined {
  const time = Date.parse(events?.at(-1)?.timestamp ?? "");
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}
