// Turns as events, read on demand. They can be read in any order, any number of times, and always come out the same.
import type { Event } from "../../core/conversation/event.ts";
import { type RawLine, stringOf } from "../json-line.ts";
import { eventsOfMessage } from "./events.ts";
import type { Message } from "./messages.ts";
import { noteOfParent } from "./notes.ts";
import { cutMessages, type MessageTurn } from "./turn-cuts.ts";

/** What turns are read from. */
export interface MessageReading {
  readonly sessionId: string;
  readonly turns: readonly MessageTurn[];
  /** The session whose agent began this one. */
  readonly parent?: string;
}

/** Cuts messages into turns that can be read. */
export function readMessageTurns(
  messages: readonly Message[],
  { sessionId, info }: { readonly sessionId: string; readonly info: RawLine },
): MessageReading {
  const parent = stringOf(info, "parentID");
  return { sessionId, turns: cutMessages(messages), ...(parent !== undefined && parent !== "" && { parent }) };
}

/** Reads one turn, its turn_start first; `turn` is 0-based. */
export function readMessageTurn({ sessionId, turns, parent }: MessageReading, turn: number): readonly Event[] {
  const cut = turns[turn];
  if (cut === undefined) return [];
  const { id, timestamp } = cut.opener;
  const start: Event = { type: "turn_start", id: `${id}.turn`, timestamp };
  const named = { ...noteOfParent(parent ?? ""), id: `${sessionId.replaceAll(".", "-")}-parent`, timestamp } as Event;
  const origin = turn === 0 && parent !== undefined ? [named] : [];
  return [start, ...origin, ...cut.messages.flatMap(eventsOfMessage)];
}
