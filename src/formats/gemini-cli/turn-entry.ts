// What a record of a session adds to the conversation: the pieces of a message that were not there before, or a note.
import { deriveName } from "../derived-name.ts";
import type { RecordPlace } from "./records.ts";

/**
 * - `prompt`: what the user typed
 * - `context`: words of the agent that introduce the request that follows
 * - `said`: all else that a model is sent or gave
 * - `note`: what no model sees
 */
export type TurnEntryKind = "prompt" | "context" | "said" | "note";

export interface TurnEntry {
  readonly place: RecordPlace;
  readonly kind: TurnEntryKind;
  /** Place among all entries of the file, rising. */
  readonly order: number;
  /** The message's id, as in the file. */
  readonly message: string;
  /** Id of the event of the piece that is named "", without a dot. */
  readonly base: string;
  /** The pieces, in order; none for a note. */
  readonly names: readonly string[];
  /** RFC 3339 UTC. */
  readonly timestamp: string;
}

/** Gives the id of a piece's event. */
export function eventId(base: string, name: string): string {
  return name === "" ? base : `${base}.${name}`;
}

/** Gives the id of the last event of an entry. */
export function lastEventId({ base, names }: TurnEntry): string {
  return eventId(base, names.at(-1) ?? "");
}

/** The agent's ids are UUIDs, and digits of digests. */
const USABLE = /^[A-Za-z0-9_-]{1,128}$/;

/** Gives the id of a message as the id of an event: no dot in it, and nothing that cannot stand in a name. */
export function messageEventId(id: string): string {
  return USABLE.test(id) ? id : `message-${deriveName(id)}`;
}
