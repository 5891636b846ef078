// Writes a conversation as a stream of jp: jpg's own entry, which jp keeps and ignores, then turns and overlays. The same export
// gives the same bytes, in jp's stored form.
import { compareTimestamps } from "../../core/conversation/compaction.ts";
import type { View } from "../../core/conversation/event.ts";
import { appendAll } from "../../core/lists.ts";
import { missingResult } from "../../core/model/thread.ts";
import type { DraftHistory, SessionDraft } from "../agent-format.ts";
import { createOriginLine, lineName } from "../imported-session.ts";
import { NO_DATE, type RawLine } from "../session-source.ts";
import { formatOverlay, nameOfOverlay, OVERLAYS_KEY } from "./compactions.ts";
import { type NamedEvent, type NamedOverlay, planLayered, planShown, type StreamDraft } from "./draft-turns.ts";
import { entryOfEvent, planWrittenCalls, type WrittenCalls, withId } from "./stored-entry.ts";
import {
  createIdMaker,
  encodeStoredText,
  formatStoredTime,
  idOfName,
  isTalk,
  kindOf,
  readStoredTime,
  type StreamKind,
} from "./stream.ts";

/** Renders `events.json`. */
export function writeJpSession({ view, history, sessionId, origin }: SessionDraft): string {
  const { entries, overlays } = layOut(view, history);
  const { type, ...fields } = createOriginLine(origin, sessionId);
  const timestamp = formatStoredTime(view.turns[0]?.events[0]?.timestamp ?? NO_DATE);
  const names = overlays.map((overlay) => [nameOfOverlay(overlay), overlay.id]);
  const mark: RawLine = { type, timestamp, ...fields, ...(overlays.length > 0 && { [OVERLAYS_KEY]: names }) };
  return formatStream([mark, ...entries]);
}

function layOut(view: View, history: DraftHistory | undefined): EntryList {
  const layered = planLayered(view, history);
  return (layered === null ? null : layOutEntries(layered)) ?? layOutEntries(planShown(view)) ?? NOTHING;
}

const NOTHING: EntryList = { entries: [], overlays: [] };

/** Renders a stream: indented by two spaces, with a final newline. */
export function formatStream(entries: readonly RawLine[]): string {
  return `${JSON.stringify(entries, null, 2)}\n`;
}

// Lays out turns and overlays as stream entries: repaired as jp does it, with explicit ids where kind and time do not give them, and
// with each overlay before the first turn that is newer.

interface NamedEntry extends DraftEntry {
  /** The id that an import should read; "" = any. */
  readonly id: string;
}

/** An entry of the conversation, or an overlay. */
type WrittenEntry = Omit<NamedEntry, "turn">;

/** An entry and its event; without one it is an entry that only the stream needs. */
interface EventEntry extends NamedEntry {
  readonly named?: NamedEvent;
}

/** A stream without jpg's own entry. */
interface EntryList {
  readonly entries: readonly RawLine[];
  /** The overlays among them, with turn numbers of the stream. */
  readonly overlays: readonly NamedOverlay[];
}

/** Lays out a draft; null when an overlay covers only empty turns, which are not written. */
function layOutEntries(draft: StreamDraft): EntryList | null {
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

/** Adds a result for each unanswered call, after the run of calls and results that it is in. */
function answerCalls(entries: readonly EventEntry[], { unanswered }: WrittenCalls): readonly NamedEntry[] {
  const pending: NamedEntry[] = [];
  const whole: NamedEntry[] = [];
  for (const entry of entries) {
    if (isTalk(entry.kind) && !CALL_KINDS.has(entry.kind)) appendAll(whole, pending.splice(0));
    whole.push(entry);
    const { named } = entry;
    if (named !== undefined && unanswered.has(named.event)) pending.push(resultOf(entry, named));
  }
  return [...whole, ...pending];
}

const CALL_KINDS: ReadonlySet<string> = new Set([
  "tool_call_request",
  "tool_call_response",
  "inquiry_request",
  "inquiry_response",
]);

/** Creates the result of an unanswered call. Its id is that of a further line of the call (`imported-session.ts`). */
function resultOf({ raw, turn }: NamedEntry, { name, event }: NamedEvent): NamedEntry {
  const content = encodeStoredText(missingResult(event));
  const result = { timestamp: raw["timestamp"], type: "tool_call_response", id: raw["id"], content, is_error: true };
  return { kind: "tool_call_response", raw: result, turn, id: idOfName(lineName(name, 1)) };
}

/** Renumbers overlays to the written turns. */
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
  const remaining = overlays.filter(({ after }) => after === undefined || !ids.has(after));
  const byEvent = new Map<string, NamedOverlay[]>();
  for (const overlay of overlays) {
    const { after = "" } = overlay;
    const same = byEvent.get(after);
    if (same === undefined) byEvent.set(after, [overlay]);
    else same.push(overlay);
  }
  const placed = entries.flatMap((entry) => {
    const own = entry.id === "" ? [] : (byEvent.get(entry.id) ?? []);
    return [...olderThan(entry, remaining).map(toEntry), entry, ...own.map(toEntry)];
  });
  return [...placed, ...remaining.map(toEntry)];
}

/** Removes and returns the overlays that are older than the turn that an entry opens. */
function olderThan({ kind, raw }: NamedEntry, remaining: NamedOverlay[]): readonly NamedOverlay[] {
  if (kind !== "turn_start") return [];
  const time = readStoredTime(raw["timestamp"]) ?? "";
  const next = remaining.findIndex(({ timestamp }) => compareTimestamps(timestamp, time) >= 0);
  return remaining.splice(0, next < 0 ? remaining.length : next);
}

function toEntry(overlay: NamedOverlay): WrittenEntry {
  return { kind: "compaction", raw: formatOverlay(overlay), id: overlay.id };
}

/** Adds ids to the entries for which an import would derive another one. */
function nameEntries(entries: readonly WrittenEntry[]): readonly RawLine[] {
  const makeId = createIdMaker();
  let timestamp = "";
  return entries.map(({ kind, raw, id }) => {
    timestamp = readStoredTime(raw["timestamp"]) ?? timestamp;
    const own = makeId({ kind, raw, timestamp });
    return id === "" || own === id || !isTalk(kind) || kind === "turn_start" ? raw : withId(raw, id);
  });
}

// Repairs a stream as jp does before it continues one: the conversation begins with a request, results without a call and questions
// without an answer are dropped, and no turn at the end is empty. A stream without a request stays as it is.

/** A stream entry and the turn it belongs to, 0-based. */
interface DraftEntry {
  readonly kind: StreamKind;
  readonly raw: RawLine;
  readonly turn: number;
}

function sanitize<Drafted extends DraftEntry>(
  entries: readonly Drafted[],
  startOf: (request: Drafted) => Drafted,
): readonly Drafted[] {
  if (!entries.some(({ kind }) => kind === "chat_request")) return entries;
  return withoutEmptyTurnsAtEnd(withoutOrphans(fromFirstRequest(entries, startOf)));
}

/** Drops what is said before the first request, except the start of its turn, which is added if missing. */
function fromFirstRequest<Drafted extends DraftEntry>(
  entries: readonly Drafted[],
  startOf: (request: Drafted) => Drafted,
): readonly Drafted[] {
  const first = entries.findIndex(({ kind }) => kind === "chat_request");
  const request = entries[first] as Drafted;
  const start = entries.findLastIndex(({ kind }, at) => at < first && kind === "turn_start");
  const before = entries.slice(0, first).filter((entry, at) => at === start || !isSaid(entry));
  return start < 0 ? [...before, startOf(request), ...entries.slice(first)] : [...before, ...entries.slice(first)];
}

function withoutOrphans<Drafted extends DraftEntry>(entries: readonly Drafted[]): readonly Drafted[] {
  const inquiries = pairedInquiries(entries);
  const open = new Map<unknown, number>();
  return entries.filter((entry) => {
    const { kind, raw } = entry;
    const { id } = raw;
    const count = open.get(id) ?? 0;
    if (kind === "tool_call_request") open.set(id, count + 1);
    if (kind === "inquiry_request" || kind === "inquiry_response") return inquiries.has(entry);
    if (kind !== "tool_call_response") return true;
    if (count > 0) open.set(id, count - 1);
    return count > 0;
  });
}

/** Returns the questions that have an answer, and these answers. */
function pairedInquiries(entries: readonly DraftEntry[]): ReadonlySet<DraftEntry> {
  const open = new Map<unknown, DraftEntry>();
  const paired = new Set<DraftEntry>();
  for (const entry of entries) {
    const { kind, raw } = entry;
    const { id } = raw;
    const asked = open.get(id);
    if (kind === "inquiry_request") open.set(id, entry);
    if (kind !== "inquiry_response" || asked === undefined) continue;
    paired.add(asked).add(entry);
    open.delete(id);
  }
  return paired;
}

function withoutEmptyTurnsAtEnd<Drafted extends DraftEntry>(entries: readonly Drafted[]): readonly Drafted[] {
  const last = entries.findLastIndex((entry) => isSaid(entry) && entry.kind !== "turn_start");
  return entries.filter((entry, at) => at < last || entry.kind !== "turn_start");
}

function isSaid({ kind }: DraftEntry): boolean {
  return isTalk(kind);
}
