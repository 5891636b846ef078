// What a running session of pi sends now: the entries of its path, the edits in force, and its newest compaction.
import { type Event, traitsOf } from "../../core/conversation/event.ts";
import type { RunningSession } from "../live-writer.ts";
import { createParsedLines, type RawLine, recordOf, stringOf } from "../session-source.ts";
import {
  activePath,
  createTree,
  type Entry,
  indexEntries,
  isSentKind,
  messageOfEntry,
  parseSessionLine,
} from "./entries.ts";
import { eventsOfEntry } from "./events.ts";

/** An entry that pi sends unless something hides it. */
export interface OwnEntry {
  readonly entry: Entry;
  /** Its place among those of the path, 0-based. */
  readonly at: number;
  /** Its position among all entries of the path. */
  readonly position: number;
  readonly role: "user" | "assistant" | "result";
  /** pi edits messages, but not commands and summaries of branches. */
  readonly canEdit: boolean;
  /** As it was written, unedited. */
  readonly content: unknown;
  /** What a model is sent of it, unedited; never empty. */
  readonly events: readonly Event[];
}

interface OwnEdit {
  readonly target: string;
  /** Null = left out. */
  readonly replacement: RawLine | null;
  /** Its position among all entries of the path. */
  readonly position: number;
}

interface OwnCompaction {
  readonly entry: Entry;
  readonly summary: string;
  /** Place of the first sent entry that it keeps, and its position: edits before it do not count. */
  readonly firstKept: number;
  readonly position: number;
  /** jpg's mark in it; "" = none. */
  readonly mark: string;
}

/** The path that pi continues, as far as it knows its parents. */
export interface OwnPath {
  readonly entries: readonly OwnEntry[];
  /** Oldest first. */
  readonly edits: readonly OwnEdit[];
  /** By the id of the edit's entry. */
  readonly editsById: ReadonlyMap<string, OwnEdit>;
  readonly byEvent: ReadonlyMap<string, OwnEntry>;
  readonly byId: ReadonlyMap<string, OwnEntry>;
  /** The newest one: older ones do not count. */
  readonly compaction: OwnCompaction | undefined;
}

/** Reads the path; null if the file is no session, or its entries have no ids. */
export function readOwnPath({ source }: Pick<RunningSession, "source">): OwnPath | null {
  const lines = createParsedLines(source, parseSessionLine);
  const index = indexEntries(lines, source.lineCount);
  if (index === null || !index.hasIds) return null;
  const tree = createTree(index);
  const whole = activePath(index, tree);
  const path = whole.slice(Math.max(0, whole.findLastIndex(tree.isCutOff)));
  const entries: OwnEntry[] = [];
  const editsById = new Map<string, OwnEdit>();
  let compaction: OwnCompaction | undefined;
  const places = new Map<string, EntryPlace>();
  for (const [position, entry] of path.entries()) {
    const raw = lines.at(entry.line);
    if (raw === null || typeof raw === "string") continue;
    const place = { at: entries.length, position };
    const own = isSentKind(entry.kind) ? readOwnEntry(entry, raw, place) : null;
    if (own !== null) entries.push(own);
    else if (entry.kind === "edit") editsById.set(entry.eventId, readEdit(raw, position));
    else if (entry.kind === "compaction")
      compaction = readCompaction(entry, raw, places.get(firstKeptIn(raw)) ?? place);
    places.set(entry.id, place);
  }
  return {
    entries,
    edits: [...editsById.values()],
    editsById,
    byEvent: new Map(entries.flatMap((own) => own.events.map((event) => [event.id, own]))),
    byId: new Map(entries.map((own) => [own.entry.id, own])),
    compaction,
  };
}

/** Place among the sent entries, and position among all. */
type EntryPlace = Pick<OwnEntry, "at" | "position">;

/** Null for an entry of which nothing is sent. */
function readOwnEntry(entry: Entry, raw: RawLine, place: EntryPlace): OwnEntry | null {
  const isCustom = raw["type"] === "custom_message";
  const events = eventsOfEntry({ entry, raw, isQueued: false, isFirst: false }).filter(isVisible);
  if (events.length === 0) return null;
  return {
    entry,
    ...place,
    role: entry.kind === "assistant" || entry.kind === "result" ? entry.kind : "user",
    canEdit: isCustom || entry.kind !== "harness",
    content: isCustom ? raw["content"] : messageOfEntry(raw)["content"],
    events,
  };
}

function isVisible(event: Event): boolean {
  return traitsOf(event).providerVisible;
}

function readEdit(raw: RawLine, position: number): OwnEdit {
  return { target: stringOf(raw, "targetId") ?? "", replacement: recordOf(raw, "replacement") ?? null, position };
}

function firstKeptIn(raw: RawLine): string {
  return stringOf(raw, "firstKeptEntryId") ?? "";
}

/** A compaction keeps nothing before it if the path does not hold the entry that it names. */
function readCompaction(entry: Entry, raw: RawLine, { at, position }: EntryPlace): OwnCompaction {
  return {
    entry,
    summary: stringOf(raw, "summary") ?? "",
    firstKept: at,
    position,
    mark: stringOf(recordOf(raw, "details") ?? {}, "jpg") ?? "",
  };
}
