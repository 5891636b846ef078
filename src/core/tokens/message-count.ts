// Messages of a view, the unit of the chat thresholds: requests of the user and answers. What stands for them (a summary)
// is counted apart, never as a message.
import { compareTimestamps } from "../compaction/compaction.ts";
import { isMessage } from "../event/event.ts";
import type { View } from "../projection/view.ts";

/** What a view shows. */
export interface MessageCount {
  /** Users' requests and assistants' messages that are shown; those of a replacement list too. */
  readonly messages: number;
  /** Summaries that stand for others. */
  readonly summaries: number;
}

/** Counts the messages and summaries of a view. */
export function countMessages({ turns }: View): MessageCount {
  let messages = 0;
  let summaries = 0;
  for (const { origin, events } of turns) {
    if (origin.kind === "summary") summaries += 1;
    else messages += events.filter((event) => isMessage(event)).length;
  }
  return { messages, summaries };
}

/** Counts the messages of a view that were said after a time (RFC 3339 UTC). */
export function countMessagesAfter({ turns }: View, timestamp: string): number {
  return turns
    .filter(({ origin }) => origin.kind === "kept")
    .flatMap(({ events }) => events)
    .filter((event) => isMessage(event) && compareTimestamps(event.timestamp, timestamp) > 0).length;
}
