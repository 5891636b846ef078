// Who said it first: every place where a phrase stands in what was said on a branch, in the summaries that were ever made of it,
// and in what jpg put into its view, in order of time. So a summary's own words are told from those of the conversation.
import { findPhrase, type Phrase, type PhraseMatch, parsePhrase } from "../../core/compact/phrase.ts";
import { type Compaction, compareTimestamps } from "../../core/conversation/compaction.ts";
import type { Event, View } from "../../core/conversation/event.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { defined } from "../../core/json.ts";
import type { MatchedLine } from "../../core/look/search-words.ts";
import type { ConversationStore } from "../../store/store.ts";
import { readRecordLog } from "../conversation/log.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { bringTurns, requireTexts } from "../conversation/turns.ts";
import { type KnownTurns, loadTurns, loadView } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { readLoggedRecords } from "./log.ts";
import { sayerOf, searchedTexts } from "./search.ts";

/** Traces a phrase on a branch. Throws `bad_phrase`, `turns_elsewhere`. */
export async function tracePhrase({ store }: Workspace, tree: BranchTree, text: string): Promise<TraceReport> {
  const phrase = parsePhrase(text);
  const summaries = await readSummaries(store, tree);
  await bringTurns(
    store,
    tree,
    tree.turnOids.map((_, turn) => turn),
  );
  const known: KnownTurns = new Map();
  const { view } = await loadView(store, tree, { known });
  const { shown, injected } = splitView(view);
  const wanted = new Set(summaries.flatMap(({ to_event }) => to_event ?? []));
  const walk = await walkEvents(store, tree, { phrase, known, shown, wanted });
  const written: readonly WrittenEvent[] = [...injected, ...walk.changed];
  const seen = findShown(phrase, [
    ...written.map((one) => one.shown),
    ...walk.said.flatMap(({ event }) => shown.get(event.id) ?? []),
  ]);
  const told = summaries.flatMap((record): SummaryPlace[] => {
    const found = findPhrase(summaryTexts(record), phrase);
    const inView = injected.some((one) => one.compaction === record.id && seen.has(one.shown));
    return found === null ? [] : [{ record, place: summaryPlace(record, found, inView) }];
  });
  const explained = new Set([...walk.said.map(({ event }) => event.id), ...told.map(({ record }) => record.id)]);
  const places = [
    ...inOrder(walk, (one) => seen.has(shown.get(one.event.id) ?? one.event), told),
    ...written.flatMap((one): TracePlace[] => {
      const found = explained.has(one.compaction ?? one.shown.id) ? undefined : seen.get(one.shown);
      return found === undefined ? [] : [writtenPlace(one, found)];
    }),
  ];
  return {
    conversation: conversationOf(tree.branch),
    branch: tree.branch,
    ...defined({ revision: tree.revision }),
    verdict: judgePlaces(places),
    summaries: summaries.length,
    places,
  };
}

/** All compactions of the history that say something in the place of turns, those that were taken back too; oldest first. */
async function readSummaries(store: ConversationStore, tree: BranchTree): Promise<readonly Compaction[]> {
  const records = await readLoggedRecords(store, await readRecordLog(store, tree.commit));
  return [...records.values()]
    .filter(({ summary, replacement }) => summary !== undefined || replacement !== undefined)
    .sort((a, b) => compareTimestamps(a.timestamp, b.timestamp));
}

function summaryTexts({ summary, replacement }: Compaction): readonly string[] {
  return [...(summary === undefined ? [] : [summary.summary]), ...(replacement ?? []).flatMap(searchedTexts)];
}

/** The raw events that a view shows, changed or not, by id; and those that stand for hidden ones. */
function splitView(view: View): { readonly shown: ReadonlyMap<string, Event>; readonly injected: WrittenEvent[] } {
  const shown = new Map<string, Event>();
  const injected: WrittenEvent[] = [];
  for (const { origin, events } of view.turns)
    for (const event of events) {
      if (origin.kind === "kept") shown.set(event.id, event);
      else injected.push({ shown: event, turn: origin.from, who: "jpg", compaction: origin.compaction });
    }
  return { shown, injected };
}

/** Which events of the view say the phrase. */
function findShown(phrase: Phrase, events: readonly Event[]): ReadonlyMap<Event, PhraseMatch> {
  return new Map(
    events.flatMap((event) => {
      const found = findPhrase(searchedTexts(event), phrase);
      return found === null ? [] : [[event, found] as const];
    }),
  );
}

interface SummaryPlace {
  readonly record: Compaction;
  readonly place: TracePlace;
}

/** Puts summaries between events: each behind all that it covers and all that was said before its time. */
function inOrder(
  { said, turnEnds, places }: TraceWalk,
  isShown: (one: TracedEvent) => boolean,
  told: readonly SummaryPlace[],
): readonly TracePlace[] {
  const ordered: TracePlace[] = [];
  let left = told.map(({ record, place }) => {
    const end = record.to_event === undefined ? undefined : places.get(record.to_event);
    const last = end ?? turnEnds[Math.min(record.to_turn, turnEnds.length - 1)] ?? -1;
    return {
      place,
      isBefore: (one: TracedEvent) => one.ordinal > last && compareTimestamps(one.latest, record.timestamp) > 0,
    };
  });
  for (const one of said) {
    for (const { place } of left.filter(({ isBefore }) => isBefore(one))) ordered.push(place);
    left = left.filter(({ isBefore }) => !isBefore(one));
    ordered.push(saidPlace(one, isShown(one)));
  }
  return [...ordered, ...left.map(({ place }) => place)];
}

function saidPlace({ event, turn, who, found }: TracedEvent, inView: boolean): TracePlace {
  return { kind: "event", who, turn, event: event.id, time: event.timestamp, ...found, in_view: inView };
}

function summaryPlace(record: Compaction, found: PhraseMatch, inView: boolean): TracePlace {
  const { id, from_turn, to_turn, timestamp, summary } = record;
  const who = summary?.source ?? (record.source === "import" ? "imported" : "replacement");
  return { kind: "summary", who, turn: from_turn, to_turn, compaction: id, time: timestamp, ...found, in_view: inView };
}

function writtenPlace({ shown, turn, who, compaction }: WrittenEvent, found: PhraseMatch): TracePlace {
  const of = compaction === undefined ? { event: shown.id } : { compaction };
  return { kind: "view", who, turn, ...of, time: shown.timestamp, ...found, in_view: true };
}

/** A place where the phrase stands. */
export interface TracePlace extends MatchedLine {
  /** `event` = somebody said it; `summary` = a compaction's text says it; `view` = only what jpg wrote into the view does. */
  readonly kind: "event" | "summary" | "view";
  /** `user`, `assistant`, `reasoning`, `harness`, `system`, `tool call NAME`, `tool result NAME`; of a summary who wrote it. */
  readonly who: string;
  /** Turn position, 0-based; of a summary the first that it stands for. */
  readonly turn: number;
  /** Last turn that a summary stands for, inclusive. */
  readonly to_turn?: number;
  readonly event?: string;
  readonly compaction?: string;
  /** RFC 3339, UTC, as it was recorded: clocks may be wrong, the order of places goes by the conversation's. */
  readonly time: string;
  /** `exact` = as it was typed; `normalised` = spelling aside. */
  readonly match: "exact" | "normalised";
  /** How often it stands there. */
  readonly times: number;
  /** Whether the model is sent it now, from here. */
  readonly in_view: boolean;
}

/** `said` before any summary · `repeated` after a summary had said it · by a `summary` only · by the `view` only · `nowhere`. */
type TraceVerdict = "said" | "repeated" | "summary" | "view" | "nowhere";

export interface TraceReport {
  readonly conversation: string;
  readonly branch: string;
  /** What named the commit that was read, e.g. `main~2`, where it is not the branch as it stands. */
  readonly revision?: string;
  readonly verdict: TraceVerdict;
  /** Summaries that were looked into, those that were reverted too. */
  readonly summaries: number;
  /** Oldest first. */
  readonly places: readonly TracePlace[];
}

/** Tells from places in order of time who was first. */
function judgePlaces(places: readonly TracePlace[]): TraceVerdict {
  const [first] = places.filter(({ kind }) => kind !== "view");
  if (first === undefined) return places.length > 0 ? "view" : "nowhere";
  if (first.kind === "event") return "said";
  return places.some(({ kind }) => kind === "event") ? "repeated" : "summary";
}

/** Turns read at once: what a batch holds is let go before the next. */
const BATCH_TURNS = 200;

/** An event that says the phrase. */
interface TracedEvent {
  readonly event: Event;
  /** Turn position, 0-based. */
  readonly turn: number;
  /** Its place among all events of the branch, 0-based. */
  readonly ordinal: number;
  readonly who: string;
  readonly found: PhraseMatch;
  /** The newest time of all events up to it: one clock may be behind another, but nothing is said before what it follows. */
  readonly latest: string;
}

/** An event of the view that nobody said as it stands there. */
interface WrittenEvent {
  readonly shown: Event;
  /** Turn position, 0-based. */
  readonly turn: number;
  readonly who: string;
  /** Compaction in whose place it stands; absent = one changed it. */
  readonly compaction?: string;
}

/** What a walk finds. */
interface TraceWalk {
  readonly said: readonly TracedEvent[];
  /** What the view shows otherwise than it was said. */
  readonly changed: readonly WrittenEvent[];
  /** Ordinal of the last event of each turn. */
  readonly turnEnds: readonly number[];
  /** Ordinals of the events that were asked for, by id. */
  readonly places: ReadonlyMap<string, number>;
}

interface WalkOptions {
  readonly phrase: Phrase;
  /** Turns that are read already: their events are the very ones that the view shows. */
  readonly known: KnownTurns;
  /** Events of the view's raw turns, by id. */
  readonly shown: ReadonlyMap<string, Event>;
  /** Ids of events whose places are asked for. */
  readonly wanted: ReadonlySet<string>;
}

/** Walks through all turns of a branch, in order. */
async function walkEvents(store: ConversationStore, tree: BranchTree, options: WalkOptions): Promise<TraceWalk> {
  const walk: MutableWalk = { said: [], changed: [], turnEnds: [], places: new Map() };
  const state: WalkState = { ordinal: 0, latest: "", toolNames: new Map() };
  for (let from = 0; from < tree.turnOids.length; from += BATCH_TURNS) {
    const batch = tree.turnOids.slice(from, from + BATCH_TURNS).map((_, at) => from + at);
    const turns = await loadTurns(store, tree, batch, new Map(options.known));
    for (const turn of batch) {
      const events = turns.get(turn)?.events ?? [];
      requireTexts(tree.commit, events);
      for (const event of events) take(walk, state, { event, turn, options });
      walk.turnEnds.push(state.ordinal - 1);
    }
  }
  return walk;
}

interface MutableWalk {
  readonly said: TracedEvent[];
  readonly changed: WrittenEvent[];
  readonly turnEnds: number[];
  readonly places: Map<string, number>;
}

interface WalkState {
  ordinal: number;
  latest: string;
  readonly toolNames: Map<string, string>;
}

interface Step {
  readonly event: Event;
  readonly turn: number;
  readonly options: WalkOptions;
}

function take(walk: MutableWalk, state: WalkState, { event, turn, options }: Step): void {
  const ordinal = state.ordinal;
  state.ordinal += 1;
  if (compareTimestamps(event.timestamp, state.latest) > 0) state.latest = event.timestamp;
  if (options.wanted.has(event.id)) walk.places.set(event.id, ordinal);
  if (event.type === "tool_call_request") state.toolNames.set(event.call_id, event.name);
  const shown = options.shown.get(event.id);
  const who = sayerOf(event, state.toolNames);
  if (shown !== undefined && shown !== event) walk.changed.push({ shown, turn, who });
  const found = findPhrase(searchedTexts(event), options.phrase);
  if (found !== null) walk.said.push({ event, turn, ordinal, who, found, latest: state.latest });
}
