// One walk through all that was said on a branch, batch by batch: which events say a phrase, who said them, and when.

import { findPhrase, type Phrase, type PhraseMatch } from "../../core/compact/phrase.ts";
import { compareTimestamps } from "../../core/conversation/compaction.ts";
import type { Event } from "../../core/conversation/event.ts";
import type { ConversationStore } from "../../store/store.ts";
import { requireTexts } from "../branch/attachments.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { type KnownTurns, loadTurns } from "../branch/load-view.ts";
import { sayerOf } from "./sayer.ts";
import { searchedTexts } from "./search-texts.ts";

/** Turns read at once: what a batch holds is let go before the next. */
const BATCH_TURNS = 200;

/** An event that says the phrase. */
export interface TracedEvent {
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
export interface WrittenEvent {
  readonly shown: Event;
  /** Turn position, 0-based. */
  readonly turn: number;
  readonly who: string;
  /** Compaction in whose place it stands; absent = one changed it. */
  readonly compaction?: string;
}

/** What a walk finds. */
export interface TraceWalk {
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
export async function walkEvents(store: ConversationStore, tree: BranchTree, options: WalkOptions): Promise<TraceWalk> {
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
