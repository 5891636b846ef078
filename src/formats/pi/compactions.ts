// pi's compactions and edits as overlays. A compaction covers everything before it from turn 0 on and keeps the tail that pi keeps;
// an edit covers one entry. Reverting one shows what it hid.
import { type Compaction, compareTimestamps } from "../../core/conversation/compaction.ts";
import { type Event, traitsOf } from "../../core/conversation/event.ts";
import { deriveName } from "../imported-session.ts";
import { addMilliseconds, type ParsedLines, type RawLine, recordOf, stringOf } from "../session-source.ts";
import { type Entry, type EntryIndex, isSentKind, type SessionTree } from "./entries.ts";
import { compactionText, createParentNote, type EntryReading, editedEvents, eventsOfEntry } from "./events.ts";

/** A compaction and the turn during or after which it was made. */
export interface PlacedCompaction {
  readonly compaction: Compaction;
  readonly turn: number;
}

/** An event of the path and its turn. */
interface EventPlace {
  readonly turn: number;
  /** Only its id: all events together are as large as the file. */
  readonly event: string;
  readonly isVisible: boolean;
}

/** What a compaction or edit changes. */
type Change = Pick<
  Compaction,
  | "from_turn"
  | "to_turn"
  | "from_event"
  | "to_event"
  | "keep"
  | "summary"
  | "replacement"
  | "turns"
  | "reason"
  | "metadata"
>;

/** A change, with the name and date of its compaction. */
interface NamedChange {
  readonly entry: Entry;
  readonly turn: number;
  readonly name: string;
  readonly change: Change;
}

/** State of the walk along a path. */
interface Progress {
  readonly reading: PathReading;
  readonly places: Map<Entry, readonly EventPlace[]>;
  /** The newest edit of each entry. */
  readonly edits: Map<Entry, { readonly by: Entry; readonly change: Change }>;
  /** The entries that pi sends: an edit of another one has no effect for now. */
  seen: Set<Entry>;
  /** First entry of the path that pi knows; absent = the root. */
  start: Entry | undefined;
  /** The last event so far. */
  end: EventPlace | undefined;
}

/** Reads the compactions of a path, oldest first, with rising timestamps. */
export function listPiCompactions(reading: PathReading, tree: SessionTree): readonly PlacedCompaction[] {
  const changes = (entry: Entry): boolean =>
    entry.kind === "compaction" || entry.kind === "edit" || tree.isCutOff(entry);
  if (!reading.path.some(changes)) return [];
  const progress: Progress = {
    reading,
    places: new Map(),
    edits: new Map(),
    seen: new Set(),
    start: undefined,
    end: undefined,
  };
  const named: NamedChange[] = [];
  for (const [turn, { chain }] of reading.cuts.entries()) {
    for (const entry of chain) {
      const found = [...(tree.isCutOff(entry) ? breakAt(entry, progress) : []), ...changesAt(entry, progress)];
      for (const one of found) named.push({ entry, turn, ...one });
      const own = readEntry(reading, entry).map((event) => placeOf(event, turn));
      progress.places.set(entry, own);
      progress.seen.add(entry);
      progress.end = own.at(-1) ?? progress.end;
    }
  }
  return dateChanges(named);
}

function placeOf(event: Event, turn: number): EventPlace {
  return { turn, event: event.id, isVisible: traitsOf(event).providerVisible };
}

function dateChanges(named: readonly NamedChange[]): readonly PlacedCompaction[] {
  let last: string | undefined;
  return named.map(({ entry, turn, name, change }) => {
    const isLater = last === undefined || compareTimestamps(entry.timestamp, last) > 0;
    const timestamp = isLater || last === undefined ? entry.timestamp : addMilliseconds(last, 1);
    last = timestamp;
    const { metadata, ...rest } = change;
    const made = { type: "compaction" as const, id: deriveName(name), timestamp, ...rest, source: "import" as const };
    return { compaction: { ...made, metadata }, turn };
  });
}

type Found = Pick<NamedChange, "name" | "change">;

/** pi does not find the entry's parent and sends nothing that comes before it. */
function breakAt(entry: Entry, progress: Progress): readonly Found[] {
  progress.start = entry;
  progress.seen = new Set();
  if (progress.end === undefined) return [];
  const change: Change = {
    ...rangeTo(progress.end),
    turns: "omit",
    reason: "broken-parent",
    metadata: { line: entry.eventId },
  };
  return [{ name: `${entry.eventId}.broken-parent`, change }];
}

function changesAt(entry: Entry, progress: Progress): readonly Found[] {
  const raw = progress.reading.lines.at(entry.line);
  if (raw === null || typeof raw === "string") return [];
  if (entry.kind === "compaction") return compactionAt({ entry, raw }, progress);
  return entry.kind === "edit" ? editAt({ entry, raw }, progress) : [];
}

interface FoundEntry {
  readonly entry: Entry;
  readonly raw: RawLine;
}

/** Kept entries stay as edited: the edits are repeated after the compaction. */
function compactionAt(found: FoundEntry, progress: Progress): readonly Found[] {
  const { entry, raw } = found;
  const { places, edits, end } = progress;
  const entries = keptEntries(found, progress);
  progress.seen = new Set(entries);
  if (end === undefined) return [];
  const kept = entries.flatMap((one) => places.get(one) ?? []).filter(({ isVisible }) => isVisible);
  const tokens = raw["tokensBefore"];
  const change: Change = {
    ...rangeTo(end),
    ...(kept.length > 0 && { keep: kept.map(({ event }) => event) }),
    summary: { summary: compactionText(stringOf(raw, "summary") ?? ""), source: "imported", inject: "request" },
    metadata: { ...(typeof tokens === "number" && { tokensBefore: tokens }), line: entry.eventId },
  };
  const repeated = entries.flatMap((one) => edits.get(one) ?? []);
  return [
    { name: entry.eventId, change },
    ...repeated.map((edit) => ({ name: `${edit.by.eventId}.${entry.eventId}`, change: edit.change })),
  ];
}

function rangeTo({ turn, event }: EventPlace): Pick<Change, "from_turn" | "to_turn" | "to_event"> & Change {
  return { from_turn: 0, to_turn: turn, to_event: event };
}

/** The entries that pi keeps before a compaction: from the named one on; none if the path does not hold it. */
function keptEntries({ entry, raw }: FoundEntry, { reading, start }: Progress): readonly Entry[] {
  const { path, index } = reading;
  const first = firstKept(index, raw);
  const from = path.findIndex(({ id }) => id === first);
  const isKnown = from >= 0 && (start === undefined || from >= path.indexOf(start));
  return isKnown ? path.slice(from, path.indexOf(entry)) : [];
}

/** Files without ids number their entries, with the header as the first. */
function firstKept({ hasIds, entries }: EntryIndex, raw: RawLine): string | undefined {
  const position = raw["firstKeptEntryIndex"];
  if (hasIds) return stringOf(raw, "firstKeptEntryId");
  return typeof position === "number" ? entries[position - 1]?.id : undefined;
}

function editAt({ entry, raw }: FoundEntry, { reading, places, edits, seen }: Progress): readonly Found[] {
  const target = reading.index.nodes.get(stringOf(raw, "targetId") ?? "");
  const own = target === undefined ? [] : (places.get(target) ?? []);
  const [first] = own;
  const last = own.at(-1);
  if (target === undefined || !isSentKind(target.kind) || first === undefined || last === undefined) return [];
  const range = { from_turn: first.turn, to_turn: last.turn, from_event: first.event, to_event: last.event };
  const isRestored = isOriginal(raw, target, reading);
  if (isRestored && !edits.has(target)) return [];
  const change: Change = {
    ...range,
    ...(isRestored ? { keep: own.map(({ event }) => event) } : contentAfter({ entry, raw }, target, reading)),
    reason: "context-edit",
    metadata: { line: entry.eventId },
  };
  if (isRestored) edits.delete(target);
  else edits.set(target, { by: entry, change });
  return seen.has(target) ? [{ name: entry.eventId, change }] : [];
}

/** Whether an edit gives an entry the content that it was written with: earlier edits then do not count. */
function isOriginal(raw: RawLine, target: Entry, reading: PathReading): boolean {
  const replacement = recordOf(raw, "replacement");
  const found = entryReading(reading, target);
  if (replacement === undefined || found === null) return false;
  return JSON.stringify(editedEvents(found, replacement)) === JSON.stringify(eventsOfEntry(found));
}

/** An edit to `null` removes the entry. */
function contentAfter({ entry, raw }: FoundEntry, target: Entry, reading: PathReading): Partial<Change> {
  const replacement = recordOf(raw, "replacement");
  const found = entryReading(reading, target);
  if (replacement === undefined || found === null) return { turns: "omit" };
  const events = editedEvents(found, replacement).filter((event) => traitsOf(event).providerVisible);
  return {
    replacement: events.map((event, at) => ({ ...event, id: at === 0 ? entry.eventId : `${entry.eventId}.${at}` })),
  };
}

// Second pass: reads the entries of a path again and makes their events. Turns can be read in any order, any number of times, with
// the same result.

export interface PathReading {
  readonly lines: ParsedLines;
  readonly index: EntryIndex;
  /** From the root to the leaf. */
  readonly path: readonly Entry[];
  readonly cuts: readonly PathTurn[];
  readonly queued: ReadonlySet<Entry>;
}

export function readTreePath(lines: ParsedLines, index: EntryIndex, path: readonly Entry[]): PathReading {
  return { lines, index, path, cuts: cutPath(path), queued: queuedPrompts(path) };
}

/** Reads one turn, turn_start first. `turn` is 0-based; the first also has a note of the parent session. */
export function readTurn(reading: PathReading, turn: number): readonly Event[] {
  const [start, ...events] = readCut(reading, reading.cuts[turn]);
  if (start === undefined) return [];
  return [start, ...(turn === 0 ? parentNote(reading.index) : []), ...events];
}

/** Reads a turn of the path, turn_start first. */
export function readCut(reading: PathReading, cut: PathTurn | undefined): readonly Event[] {
  if (cut === undefined) return [];
  const { opener, chain } = cut;
  const start: Event = { type: "turn_start", id: `${opener.eventId}.turn`, timestamp: opener.timestamp };
  return [start, ...chain.flatMap((entry) => readEntry(reading, entry))];
}

function readEntry(reading: PathReading, entry: Entry): readonly Event[] {
  const found = entryReading(reading, entry);
  return found === null ? [] : eventsOfEntry(found);
}

/** Context of an entry; null if its line cannot be read any more. */
function entryReading({ lines, cuts, queued }: PathReading, entry: Entry): EntryReading | null {
  const raw = lines.at(entry.line);
  if (raw === null || typeof raw === "string") return null;
  return { entry, raw, isQueued: queued.has(entry), isFirst: cuts[0]?.opener === entry };
}

/** The note of the session's parent file. */
function parentNote({ header, sessionId, createdAt }: EntryIndex): readonly Event[] {
  const parent = stringOf(header, "parentSession");
  if (parent === undefined || parent === "") return [];
  return [createParentNote(parent, { id: `${sessionId.replaceAll(".", "-")}-parent`, timestamp: createdAt })];
}

/** One turn of a path, before its lines are read. */
export interface PathTurn {
  /** Opening entry; the turn's piece of the source begins there. */
  readonly opener: Entry;
  /** Entries of the path, in order. */
  readonly chain: readonly Entry[];
}

interface OpenTurn {
  readonly opener: Entry;
  readonly chain: Entry[];
  /** Whether it holds more than harness text. */
  hasContent: boolean;
}

/** Cuts a path into turns; none if nothing was ever sent. A summary before everything else is the first text that the model sees. */
function cutPath(path: readonly Entry[]): readonly PathTurn[] {
  const queued = queuedPrompts(path);
  const turns: OpenTurn[] = [];
  const head: Entry[] = [];
  for (const entry of path) {
    const current = turns.at(-1);
    const opens = entry.kind === "prompt" && !queued.has(entry);
    const hasContent = isSentKind(entry.kind) && entry.kind !== "harness";
    if (current === undefined) {
      head.push(entry);
      const isSummary = entry.kind === "compaction";
      if (isSummary || isSentKind(entry.kind))
        turns.push({ opener: entry, chain: head, hasContent: isSummary || hasContent });
    } else if (opens && current.hasContent) {
      turns.push({ opener: entry, chain: [entry], hasContent });
    } else {
      current.chain.push(entry);
      current.hasContent ||= hasContent;
    }
  }
  return turns;
}

/**
 * Prompts typed while the agent worked and sent between a tool's result and the next answer. A prompt typed after the result, once
 * the user stopped the agent, is a request of its own.
 */
function queuedPrompts(path: readonly Entry[]): ReadonlySet<Entry> {
  const queued = new Set<Entry>();
  let before: Entry | undefined;
  for (const entry of path) {
    if (entry.kind === "prompt" && before !== undefined && entry.madeMs !== undefined) {
      const isBetween = before.kind === "result" || queued.has(before);
      if (isBetween && entry.madeMs < Date.parse(before.timestamp)) queued.add(entry);
    }
    if (isSentKind(entry.kind) || entry.kind === "failed") before = entry;
  }
  return queued;
}
