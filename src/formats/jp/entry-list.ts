// The turns and overlays of a draft as the entries of a stream: put right as jp does, ids written where kind and time do not give
// them, overlays before the first turn that is younger.

import { compareTimestamps } from "../../core/conversation/compaction.ts";
import { appendAll } from "../../core/lists.ts";
import { INTERRUPTED_RESULT } from "../../core/model/thread.ts";
import type { RawLine } from "../json-line.ts";
import { lineName } from "../line-names.ts";
import type { NamedEvent, NamedOverlay, StreamDraft } from "./draft-turns.ts";
import { createIdMaker, idOfName } from "./entry-id.ts";
import { isTalk, kindOf } from "./entry-kind.ts";
import { formatOverlay } from "./overlays.ts";
import { type DraftEntry, sanitize } from "./sanitize.ts";
import { entryOfEvent, withId } from "./stored-entry.ts";
import { encodeStoredText } from "./stored-text.ts";
import { readStoredTime } from "./stored-time.ts";
import { planWrittenCalls, type WrittenCalls } from "./written-calls.ts";

interface NamedEntry extends DraftEntry {
  /** The id that it is to have when it is read. */
  readonly id: string;
}

/** An entry of the conversation, or an overlay. */
type WrittenEntry = Omit<NamedEntry, "turn">;

/** An entry and its event; absent = the stream only needs it. */
interface EventEntry extends NamedEntry {
  readonly named?: NamedEvent;
}

/** What a stream holds beside jpg's own entry. */
export interface EntryList {
  readonly entries: readonly RawLine[];
  /** The overlays among them, over the turns as they stand in the stream. */
  readonly overlays: readonly NamedOverlay[];
}

/** Lays a draft out; null when an overlay has nothing left to stand over: what is empty is not written. */
export function layOutEntries(draft: StreamDraft): EntryList | null {
  const calls = planWrittenCalls(draft);
  const drafted = draft.turns.flatMap((named, turn) => answerCalls(entriesOfTurn(named, { turn, calls }), calls));
  const entries = sanitize(drafted, ({ raw, turn }) => startBefore(raw, turn));
  const overlays = moveOverlays(draft.overlays, entries);
  if (overlays.length < draft.overlays.length) return null;
  return { entries: nameEntries(insertOverlays(entries, overlays)), overlays };
}

function entriesOfTurn(
  events: readonly NamedEvent[],
  { turn, calls }: { readonly turn: number; readonly calls: WrittenCalls },
): readonly EventEntry[] {
  const entries = events.flatMap((named): EventEntry[] => {
    const { name, event } = named;
    const entry = entryOfEvent(event);
    const id = calls.ids.get(event);
    if (entry === null || (event.type === "tool_call_response" && id === undefined)) return [];
    const raw = id === undefined ? entry : { ...entry, id };
    return [{ kind: kindOf(raw), raw, turn, id: idOfName(name), named }];
  });
  const first = events[0]?.event;
  const [start] = entries;
  if (start === undefined || first?.type === "turn_start") return entries;
  return [startBefore(start.raw, turn), ...entries];
}

function startBefore({ timestamp }: RawLine, turn: number): NamedEntry {
  return { kind: "turn_start", raw: { timestamp, type: "turn_start" }, turn, id: "" };
}

/** Puts results that are made up behind the calls and results among which their calls stand. */
function answerCalls(entries: readonly EventEntry[], { unanswered }: WrittenCalls): readonly NamedEntry[] {
  const pending: NamedEntry[] = [];
  const whole: NamedEntry[] = [];
  for (const entry of entries) {
    if (isTalk(entry.kind) && !STANDS_AMONG_CALLS.has(entry.kind)) appendAll(whole, pending.splice(0));
    whole.push(entry);
    const { named } = entry;
    if (named !== undefined && unanswered.has(named.event)) pending.push(resultOf(entry, named.name));
  }
  return [...whole, ...pending];
}

const STANDS_AMONG_CALLS: ReadonlySet<string> = new Set([
  "tool_call_request",
  "tool_call_response",
  "inquiry_request",
  "inquiry_response",
]);

/** A further line of its call (`line-names.ts`). */
function resultOf({ raw, turn }: NamedEntry, name: string): NamedEntry {
  const content = encodeStoredText(INTERRUPTED_RESULT);
  const result = { timestamp: raw["timestamp"], type: "tool_call_response", id: raw["id"], content, is_error: true };
  return { kind: "tool_call_response", raw: result, turn, id: idOfName(lineName(name, 1)) };
}

/** Overlays over the turns that are written, as they are counted in the stream. */
function moveOverlays(overlays: readonly NamedOverlay[], entries: readonly NamedEntry[]): readonly NamedOverlay[] {
  const positions = new Map<number, number>();
  let turn = -1;
  for (const { kind, turn: drafted } of entries) {
    if (kind === "turn_start" || (turn < 0 && isTalk(kind))) turn++;
    if (turn >= 0) positions.set(drafted, turn);
  }
  return overlays.flatMap((overlay) => {
    const covered = [...positions].filter(([drafted]) => drafted >= overlay.from && drafted <= overlay.to);
    const [first, last] = [covered[0], covered.at(-1)];
    return first === undefined || last === undefined ? [] : [{ ...overlay, from: first[1], to: last[1] }];
  });
}

function insertOverlays(entries: readonly NamedEntry[], overlays: readonly NamedOverlay[]): readonly WrittenEntry[] {
  const ids = new Set(entries.map(({ id }) => id));
  const left = overlays.filter(({ after }) => after === undefined || !ids.has(after));
  const behind = new Map<string, NamedOverlay[]>();
  for (const overlay of overlays) {
    const { after = "" } = overlay;
    const same = behind.get(after);
    if (same === undefined) behind.set(after, [overlay]);
    else same.push(overlay);
  }
  const placed = entries.flatMap((entry) => {
    const own = entry.id === "" ? [] : (behind.get(entry.id) ?? []);
    return [...olderThan(entry, left).map(toEntry), entry, ...own.map(toEntry)];
  });
  return [...placed, ...left.map(toEntry)];
}

/** Takes the overlays that are older than the turn that an entry opens. */
function olderThan({ kind, raw }: NamedEntry, left: NamedOverlay[]): readonly NamedOverlay[] {
  if (kind !== "turn_start") return [];
  const time = readStoredTime(raw["timestamp"]) ?? "";
  const next = left.findIndex(({ timestamp }) => compareTimestamps(timestamp, time) >= 0);
  return left.splice(0, next < 0 ? left.length : next);
}

function toEntry(overlay: NamedOverlay): WrittenEntry {
  return { kind: "compaction", raw: formatOverlay(overlay), id: overlay.id };
}

/** Writes the ids of those events that the import would call otherwise. */
function nameEntries(entries: readonly WrittenEntry[]): readonly RawLine[] {
  const makeId = createIdMaker();
  let timestamp = "";
  return entries.map(({ kind, raw, id }) => {
    timestamp = readStoredTime(raw["timestamp"]) ?? timestamp;
    const own = makeId({ kind, raw, timestamp });
    return id === "" || own === id || !isTalk(kind) || kind === "turn_start" ? raw : withId(raw, id);
  });
}
