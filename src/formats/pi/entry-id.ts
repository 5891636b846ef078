// Ids of entries as ids of events: without a dot, which parts an event's ordinal from its entry.
import { deriveName } from "../derived-name.ts";

/** The agent's are 8 hex digits, now and then a UUID. */
const USABLE = /^[A-Za-z0-9_-]{1,128}$/;

/** Gives the id of an entry's first event: the entry's own, else a name derived from it. */
export function entryId(id: string): string {
  return USABLE.test(id) ? id : `entry-${deriveName(id)}`;
}
