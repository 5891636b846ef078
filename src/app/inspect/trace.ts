// Who said it first: every place where a phrase stands in what was said on a branch, in the summaries that were ever made of it,
// and in what jpg put into its view, in order of time. So a summary's own words are told from those of the conversation.

import { findPhrase, type Phrase, type PhraseMatch, parsePhrase } from "../../core/compact/phrase.ts";
import { type Compaction, compareTimestamps } from "../../core/conversation/compaction.ts";
import type { Event, View } from "../../core/conversation/event.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { defined } from "../../core/json.ts";
import type { ConversationStore } from "../../store/store.ts";
import { readBranchLog } from "../branch/branch-log.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { bringTurns } from "../branch/bring-turns.ts";
import { type KnownTurns, loadView } from "../branch/load-view.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { readLoggedRecords } from "./log.ts";
import { searchedTexts } from "./search-texts.ts";
import { judgePlaces, type TracePlace, type TraceReport } from "./trace-report.ts";
import { type TracedEvent, type TraceWalk, type WrittenEvent, walkEvents } from "./trace-walk.ts";

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
  const records = await readLoggedRecords(store, await readBranchLog(store, tree));
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
