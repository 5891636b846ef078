// How much a conversation holds, counted from its raw events.
import type { Compaction } from "../compaction/compaction.ts";
import { isMessage, traitsOf } from "../event/event.ts";
import type { Turn } from "../event/turn.ts";

/** Counts over raw turns; compactions, config deltas and unknown kinds are no events. */
export interface ConversationStats {
  readonly events: number;
  readonly turns: number;
  /** Users' requests and assistants' messages. */
  readonly messages: number;
  readonly compactions: number;
}

/** Counts the events, turns and messages of a conversation, and its compactions. */
export function countConversation(turns: readonly Turn[], compactions: readonly Compaction[]): ConversationStats {
  let events = 0;
  let messages = 0;
  for (const turn of turns) {
    for (const event of turn.events) {
      if (traitsOf(event).counted) events += 1;
      if (isMessage(event)) messages += 1;
    }
  }
  return { events, turns: turns.length, messages, compactions: compactions.length };
}
