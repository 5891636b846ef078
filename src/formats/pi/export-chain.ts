// The entries of an exported session, in one straight chain: every entry's parent is the one before it, so nothing but what was
// written is reachable. Dates come from the events; ids from the events' ids.
import type { RawLine } from "../json-line.ts";
import { lineName } from "../line-names.ts";
import { NO_DATE } from "../timestamp.ts";

/** One entry before it has an id and a parent. */
export interface EntryDraft {
  /** What its id is made of: the event's id, or the compaction's; absent = it goes with the entry before it. */
  readonly key?: string;
  /** RFC 3339; absent = that of the entry before. */
  readonly timestamp?: string;
  /** Everything but id, parent and time, perhaps by the id. A message gets the time in milliseconds that it lacks. */
  readonly body: RawLine | ((id: string) => RawLine);
}

/** Collects entries. Holds state on purpose: an entry's parent is the entry before it. */
export interface EntryChain {
  readonly add: (draft: EntryDraft) => void;
  readonly entries: readonly RawLine[];
}

/** Creates an empty chain. `lineId` gives the id of an entry's name. */
export function createEntryChain(lineId: (name: string) => string): EntryChain {
  const entries: RawLine[] = [];
  const counts = new Map<string, number>();
  let last = { id: null as string | null, key: "", timestamp: NO_DATE };
  const add = ({ key = last.key, timestamp = last.timestamp, body }: EntryDraft): void => {
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    const id = lineId(lineName(key, count));
    const { type, message, ...rest } = typeof body === "function" ? body(id) : body;
    const timed = message === undefined ? {} : { message: { ...(message as RawLine), ...timeOf(message, timestamp) } };
    entries.push({ type, id, parentId: last.id, timestamp, ...timed, ...rest });
    last = { id, key, timestamp };
  };
  return { add, entries };
}

function timeOf(message: unknown, timestamp: string): { readonly timestamp?: number } {
  return (message as RawLine)["timestamp"] === undefined ? { timestamp: Date.parse(timestamp) } : {};
}
