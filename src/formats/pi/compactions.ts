// pi's compactions and edits as overlays. A compaction covers everything before it from turn 0 on and keeps the tail that pi keeps;
// an edit covers one entry. Reverting one shows what it hid.
import { type Compaction, compareTimestamps } from "../../core/conversation/compaction.ts";
import { type Event, traitsOf } from "../../core/conversation/event.ts";
import { appendAll } from "../../core/lists.ts";
import { deriveName } from "../imported-session.ts";
import type { LiveUndo } from "../live-mark.ts";
import { addMilliseconds, type ParsedLines, type RawLine, recordOf, stringOf } from "../session-source.ts";
import { type Entry, type EntryIndex, isSentKind, type SessionTree } from "./entries.ts";
import { compactionText, createParentNote, type EntryReading, editedEvents, eventsOfEntry } from "./events.ts";
import { findBatches, type LiveBatch, type LiveBatches } from "./live-batches.ts";

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

/** A change, with the id and date of its compaction. */
interface NamedChange {
  readonly entry: Entry;
  readonly turn: number;
  readonly id: string;
  readonly change: Change;
}

/** An edit in force. */
interface ForceEdit {
  readonly by: Entry;
  readonly change: Change;
  /** Ids of compactions that only change this entry, as it and earlier edits do. */
  readonly records: readonly string[];
}

/** State of the walk along a path. */
interface Progress {
  readonly reading: PathReading;
  readonly live: LiveBatches;
  readonly places: Map<Entry, readonly EventPlace[]>;
  /** The newest edit of each entry. */
  readonly edits: Map<Entry, ForceEdit>;
  /** Ids of compactions in force that show the whole context anew. */
  readonly whole: Set<string>;
  /** What was taken back, without turn and time. */
  undone: string[];
  /** Steps that are left for such compactions: a hostile file must not take a square of its entries. */
  steps: number;
  /** The entries that pi sends: an edit of another one has no effect for now. */
  seen: Set<Entry>;
  /** First entry of the path that pi knows; absent = the root. */
  start: Entry | undefined;
  /** The last event so far. */
  end: EventPlace | undefined;
}

/** What a path says of its compactions. */
export interface PathCompactions {
  /** Oldest first, with rising timestamps. */
  readonly placed: readonly PlacedCompaction[];
  /** Those that were taken back, oldest first. */
  readonly undone: readonly LiveUndo[];
  readonly live: LiveBatches;
  /** The entries that pi sends. */
  readonly seen: ReadonlySet<Entry>;
}

/** Steps for each entry of a path. */
const STEPS_PER_ENTRY = 50;

/** Reads the compactions of a path. */
export function listPiCompactions(reading: PathReading, tree: SessionTree): PathCompactions {
  const live = findBatches(reading.lines, reading.path);
  const changes = (entry: Entry): boolean =>
    entry.kind === "compaction" || entry.kind === "edit" || tree.isCutOff(entry);
  if (!reading.path.some(changes)) return { placed: [], undone: [], live, seen: new Set(reading.path) };
  const progress: Progress = {
    reading,
    live,
    places: new Map(),
    edits: new Map(),
    whole: new Set(),
    undone: [],
    steps: STEPS_PER_ENTRY * reading.path.length,
    seen: new Set(),
    start: undefined,
    end: undefined,
  };
  const named: NamedChange[] = [];
  const undone: LiveUndo[] = [];
  for (const [turn, { chain }] of reading.cuts.entries()) {
    for (const entry of chain) {
      const found = [...(tree.isCutOff(entry) ? breakAt(entry, progress) : []), ...changesAt(entry, progress)];
      for (const one of found) named.push({ entry, turn, ...one });
      for (const compaction of progress.undone) undone.push({ compaction, turn, timestamp: entry.timestamp });
      progress.undone = [];
      const own = readEntry(reading, entry).map((event) => placeOf(event, turn));
      progress.places.set(entry, own);
      progress.seen.add(entry);
      progress.end = own.at(-1) ?? progress.end;
    }
  }
  const placed = dateChanges(named);
  return { placed, undone: dateUndone(undone, placed), live, seen: progress.seen };
}

/** A compaction is taken back no earlier than it was made. */
function dateUndone(undone: readonly LiveUndo[], placed: readonly PlacedCompaction[]): readonly LiveUndo[] {
  const made = new Map(placed.map(({ compaction: { id, timestamp } }) => [id, timestamp] as const));
  return undone.map((one) => {
    const time = made.get(one.compaction);
    return time !== undefined && compareTimestamps(one.timestamp, time) < 0 ? { ...one, timestamp: time } : one;
  });
}

function placeOf(event: Event, turn: number): EventPlace {
  return { turn, event: event.id, isVisible: traitsOf(event).providerVisible };
}

function dateChanges(named: readonly NamedChange[]): readonly PlacedCompaction[] {
  let last: string | undefined;
  return named.map(({ entry, turn, id, change }) => {
    const isLater = last === undefined || compareTimestamps(entry.timestamp, last) > 0;
    const timestamp = isLater || last === undefined ? entry.timestamp : addMilliseconds(last, 1);
    last = timestamp;
    const { metadata, ...rest } = change;
    const made = { type: "compaction" as const, id, timestamp, ...rest, source: "import" as const };
    return { compaction: { ...made, metadata }, turn };
  });
}

type Found = Pick<NamedChange, "id" | "change">;

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
  return [{ id: deriveName(`${entry.eventId}.broken-parent`), change }];
}

function changesAt(entry: Entry, progress: Progress): readonly Found[] {
  const raw = progress.reading.lines.at(entry.line);
  if (raw === null || typeof raw === "string") return [];
  const batch = progress.live.byEntry.get(entry);
  if (batch?.at === entry && batch.mark.kind === "compact")
    return compactionAt({ entry, raw }, progress, batch.mark.compaction);
  if (batch !== undefined) return batchedAt({ entry, raw }, batch, progress);
  if (entry.kind === "compaction") return compactionAt({ entry, raw }, progress);
  return entry.kind === "edit" ? editAt({ entry, raw }, progress) : [];
}

interface FoundEntry {
  readonly entry: Entry;
  readonly raw: RawLine;
}

/** Kept entries stay as edited: the edits are repeated after the compaction. */
function compactionAt(found: FoundEntry, progress: Progress, id?: string): readonly Found[] {
  const { entry, raw } = found;
  const { places, edits, end } = progress;
  const entries = keptEntries(found, progress);
  progress.seen = new Set(entries);
  progress.whole.clear();
  if (end === undefined) return [];
  const kept = entries.flatMap((one) => places.get(one) ?? []).filter(({ isVisible }) => isVisible);
  const tokens = raw["tokensBefore"];
  const change: Change = {
    ...rangeTo(end),
    ...(kept.length > 0 && { keep: kept.map(({ event }) => event) }),
    summary: { summary: compactionText(stringOf(raw, "summary") ?? ""), source: "imported", inject: "request" },
    metadata: { ...(typeof tokens === "number" && { tokensBefore: tokens }), line: entry.eventId },
  };
  const repeated = entries.flatMap((one) => {
    const edit = edits.get(one);
    if (edit === undefined) return [];
    const again = deriveName(`${edit.by.eventId}.${entry.eventId}`);
    edits.set(one, { ...edit, records: [...edit.records, again] });
    return [{ id: again, change: edit.change }];
  });
  return [{ id: id ?? deriveName(entry.eventId), change }, ...repeated];
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

/** An edit that gives an entry its own content again takes back what changed it. */
function editAt(found: FoundEntry, progress: Progress): readonly Found[] {
  const edit = takeEdit(found, progress);
  if (edit === undefined || !progress.seen.has(edit.target)) return [];
  const id = deriveName(found.entry.eventId);
  const all = progress.whole.size === 0 ? null : wholeContext(found.entry, progress, id);
  if (all !== null) return [{ id, change: all }];
  if (edit.isRestored) {
    appendAll(progress.undone, edit.before);
    return [];
  }
  const now = progress.edits.get(edit.target);
  if (now !== undefined) progress.edits.set(edit.target, { ...now, records: [...now.records, id] });
  return [{ id, change: edit.change }];
}

/** Edits that jpg announced are one compaction, or the undo of one. */
function batchedAt(found: FoundEntry, { mark, entries, isWhole }: LiveBatch, progress: Progress): readonly Found[] {
  const { entry } = found;
  const edit = entry.kind === "edit" ? takeEdit(found, progress) : undefined;
  if (entry.kind === "compaction") progress.seen = new Set(keptEntries(found, progress));
  if (mark.kind === "undo" && edit?.isRestored === true) appendAll(progress.undone, edit.before);
  if (entry !== entries.at(-1) || !isWhole) return [];
  if (mark.kind === "undo") {
    progress.undone.push(mark.compaction);
    progress.whole.delete(mark.compaction);
    return [];
  }
  const again = entries.findLast(({ kind }) => kind === "compaction");
  const change = wholeContext(entry, progress, mark.compaction, again);
  if (change === null) return [];
  progress.whole.add(mark.compaction);
  return [{ id: mark.compaction, change }];
}

/** All that pi sends now, as one replacement; null = nothing was said, or the steps are used up. `again`: where its context begins. */
function wholeContext(entry: Entry, progress: Progress, id: string, again?: Entry): Change | null {
  const { reading, places, edits, seen, end } = progress;
  const entries = reading.path.filter((one) => seen.has(one) && isSentKind(one.kind) && places.has(one));
  progress.steps -= reading.path.length;
  const [first] = entries.flatMap((one) => places.get(one)?.[0] ?? []);
  if (progress.steps < 0 || end === undefined || first === undefined) return null;
  const text = again === undefined ? [] : summaryRequest(reading, again);
  const events = [
    ...text,
    ...entries.flatMap((one) => edits.get(one)?.change.replacement ?? ownEvents(reading, one, edits)),
  ];
  const start = again === undefined ? { from_turn: first.turn, from_event: first.event } : {};
  return {
    ...rangeTo(end),
    ...start,
    replacement: events.map((event, at) => ({ ...withoutUsage(event), id: `${id}.${at}` })),
    reason: "context-edit",
    metadata: { line: entry.eventId },
  };
}

/** The events of an entry that is sent as it was written; none if an edit removes it. */
function ownEvents(reading: PathReading, entry: Entry, edits: Progress["edits"]): readonly Event[] {
  return edits.has(entry) ? [] : readEntry(reading, entry).filter((event) => traitsOf(event).providerVisible);
}

function summaryRequest({ lines }: PathReading, { line, eventId: id, timestamp }: Entry): readonly Event[] {
  const raw = lines.at(line);
  const text = compactionText(raw === null || typeof raw === "string" ? "" : (stringOf(raw, "summary") ?? ""));
  return [{ type: "chat_request", id, timestamp, content: text, metadata: { origin: "summary" } }];
}

/** The tokens of an answer are counted where it was given. */
function withoutUsage(event: Event): Event {
  if (event.metadata?.["usage"] === undefined) return event;
  const { usage: _, ...metadata } = event.metadata;
  return { ...event, metadata } as Event;
}

interface TakenEdit {
  readonly target: Entry;
  readonly change: Change;
  readonly isRestored: boolean;
  /** Ids of the compactions that changed the entry before. */
  readonly before: readonly string[];
}

/** Notes an edit; undefined = it has no effect. */
function takeEdit({ entry, raw }: FoundEntry, { reading, places, edits }: Progress): TakenEdit | undefined {
  const target = reading.index.nodes.get(stringOf(raw, "targetId") ?? "");
  const own = target === undefined ? [] : (places.get(target) ?? []);
  const [first] = own;
  const last = own.at(-1);
  if (target === undefined || !isSentKind(target.kind) || first === undefined || last === undefined) return undefined;
  const range = { from_turn: first.turn, to_turn: last.turn, from_event: first.event, to_event: last.event };
  const isRestored = isOriginal(raw, target, reading);
  const before = edits.get(target)?.records ?? [];
  if (isRestored && !edits.delete(target)) return undefined;
  const content = isRestored ? {} : contentAfter({ entry, raw }, target, reading);
  const change: Change = { ...range, ...content, reason: "context-edit", metadata: { line: entry.eventId } };
  if (!isRestored) edits.set(target, { by: entry, change, records: before });
  return { target, change, isRestored, before };
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
