// Second pass: reads the entries of a path again and makes their events. Turns can be read in any order, any number of times,
// and always come out the same.
import type { Event } from "../../core/conversation/event.ts";
import { stringOf } from "../json-line.ts";
import type { ParsedLines } from "../parsed-lines.ts";
import type { Entry, EntryIndex } from "./entry-index.ts";
import { type EntryReading, eventsOfEntry } from "./events.ts";
import { createParentNote } from "./notes.ts";
import { cutPath, type PathTurn, queuedPrompts } from "./turn-cuts.ts";

/** What the turns of a path are read from. */
export interface PathReading {
  readonly lines: ParsedLines;
  readonly index: EntryIndex;
  /** From the root to the leaf. */
  readonly path: readonly Entry[];
  readonly cuts: readonly PathTurn[];
  readonly queued: ReadonlySet<Entry>;
}

/** Cuts a path into turns that can be read. */
export function readTreePath(lines: ParsedLines, index: EntryIndex, path: readonly Entry[]): PathReading {
  return { lines, index, path, cuts: cutPath(path), queued: queuedPrompts(path) };
}

/** Reads one turn, its turn_start first. `turn` is 0-based; the first one says where the session comes from. */
export function readTurn(reading: PathReading, turn: number): readonly Event[] {
  const [start, ...events] = readCut(reading, reading.cuts[turn]);
  if (start === undefined) return [];
  return [start, ...(turn === 0 ? parentNote(reading.index) : []), ...events];
}

/** Reads a turn of the path, its turn_start first. */
export function readCut(reading: PathReading, cut: PathTurn | undefined): readonly Event[] {
  if (cut === undefined) return [];
  const { opener, chain } = cut;
  const start: Event = { type: "turn_start", id: `${opener.eventId}.turn`, timestamp: opener.timestamp };
  return [start, ...chain.flatMap((entry) => readEntry(reading, entry))];
}

/** Reads the events of one entry; none for one that only changes what is sent. */
export function readEntry(reading: PathReading, entry: Entry): readonly Event[] {
  const found = entryReading(reading, entry);
  return found === null ? [] : eventsOfEntry(found);
}

/** How an entry of the path is read; null when its line is none any more. */
export function entryReading({ lines, cuts, queued }: PathReading, entry: Entry): EntryReading | null {
  const raw = lines.at(entry.line);
  if (raw === null || typeof raw === "string") return null;
  return { entry, raw, isQueued: queued.has(entry), isFirst: cuts[0]?.opener === entry };
}

/** Which file the session was split off. */
function parentNote({ header, sessionId, createdAt }: EntryIndex): readonly Event[] {
  const parent = stringOf(header, "parentSession");
  if (parent === undefined || parent === "") return [];
  return [createParentNote(parent, { id: `${sessionId.replaceAll(".", "-")}-parent`, timestamp: createdAt })];
}
