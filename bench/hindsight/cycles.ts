// Cycles: a conversation that is compacted whenever its view passes a size, again and again. What a compaction frees the first time
// says little; what is left after twenty of them says how long a conversation can go on.
import type { Compaction } from "../../src/core/conversation/compaction.ts";
import type { Event, Turn } from "../../src/core/conversation/event.ts";
import { listSafeCuts } from "../../src/core/conversation/tool-pairing.ts";
import { type CountTokens, keepLast, maskResults } from "./baselines.ts";
import { compact, policiesOf, type Treatment, viewOf } from "./compact-past.ts";
import { type Session, visibleEvents } from "./stretch.ts";

/** One compaction of many, as shares. */
export interface Cycle {
  /** Of the view before it. */
  readonly freed: number;
  /** What is left, of the size at which it is compacted. */
  readonly floor: number;
}

/** Cycles that are shown. */
export const SHOWN_CYCLES: readonly number[] = [1, 5, 20];
const MOST_CYCLES = 20;
const AROUND = 5;
/** The share of a window that those sizes are. */
const TRIGGER = 0.8;
/** A view that comes out above this share of the size is full: it would be compacted again at once. */
const FULL = 0.95;
/** So many full views in a row, each after some growth, end the conversation. */
const MOST_FULL = 3;
const REGROWTH = 0.05;

/** The medians of the cycle and up to four before it: what is newest may be a word or a file. Null where it was full before. */
export function aroundCycle(cycles: readonly Cycle[], count: number): Cycle | null {
  if (cycles.length < count) return null;
  const some = cycles.slice(Math.max(0, count - AROUND), count);
  return { freed: median(some.map(({ freed }) => freed)), floor: median(some.map(({ floor }) => floor)) };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** A way to compact again and again. */
export interface CycledRow {
  readonly name: string;
  readonly start: (size: number, count: CountTokens) => Compactor;
}

/** Holds a conversation that grows. */
interface Compactor {
  /** Adds events to the newest turn, or to a new one. */
  add(events: readonly Event[], isNewTurn: boolean): void;
  /** Compacts; gives the view. */
  compact(): readonly Event[];
}

/** The rows of which cycles are run. */
export const CYCLED_ROWS: readonly CycledRow[] = [
  byJpg("auto", { strategies: ["auto"] }),
  byJpg("auto, extract above half", { strategies: ["auto"], extract: "usual" }, 0.5),
  byJpg("default", { policies: policiesOf("default") }),
  byJpg("heavy (extract)", { extract: "usual" }),
  byJpg("extract 2k", { extract: 2000 }),
  byRule("mask all but 10", (view) => maskResults(view, 10)),
  byRule("keep last 20k", (view, count) => keepLast(view, 20_000, count)),
];

/** Runs the cycles of a row over a stream of steps; fewer than asked for where the views stay full. */
export function runCycles(
  row: CycledRow,
  steps: Iterable<Step>,
  { size, count, most = MOST_CYCLES }: { readonly size: number; readonly count: CountTokens; readonly most?: number },
): readonly Cycle[] {
  const compactor = row.start(size, count);
  const cycles: Cycle[] = [];
  let tokens = 0;
  let limit = size;
  let full = 0;
  for (const { events, isNewTurn } of steps) {
    compactor.add(events, isNewTurn);
    tokens += sum(events, count);
    if (tokens <= limit) continue;
    const after = sum(compactor.compact(), count);
    full = after > FULL * size ? full + 1 : 0;
    if (full === MOST_FULL) break;
    // What is full is tried again once it has grown, and is no cycle.
    if (full === 0) cycles.push({ freed: (tokens - after) / tokens, floor: after / size });
    limit = full === 0 ? size : Math.max(size, after + REGROWTH * size);
    tokens = after;
    if (cycles.length === most) break;
  }
  return cycles;
}

/** What comes at once: a message with the results of its calls. */
export interface Step {
  readonly events: readonly Event[];
  readonly isNewTurn: boolean;
}

/** The sessions one after the other, again and again, every time under new ids. */
export function* endlessSteps(sessions: readonly Session[]): Generator<Step> {
  for (let round = 0; sessions.length > 0; round += 1) {
    for (const [number, { turns }] of sessions.entries()) {
      for (const { events } of turns) yield* stepsOf(events, `${round}-${number}-`);
    }
  }
}

function* stepsOf(events: readonly Event[], prefix: string): Generator<Step> {
  let from = 0;
  for (const cut of listSafeCuts(events)) {
    const part = events.slice(from, cut + 1).map((event) => ({ ...event, id: prefix + event.id }));
    if (visibleEvents([{ events: part }]).length > 0) {
      yield { events: part, isNewTurn: from === 0 };
      from = cut + 1;
    }
  }
}

function byJpg(name: string, treatment: Treatment, extractAbove = 0): CycledRow {
  const { extract, ...mechanical } = treatment;
  return {
    name,
    start: (size, count) => {
      const windowTokens = size / TRIGGER;
      const turns: Turn[] = [];
      let compactions: readonly Compaction[] = [];
      return {
        add: (events, isNewTurn) => addTo(turns, events, isNewTurn),
        compact: () => {
          compactions = compact({ turns, compactions }, { ...mechanical, windowTokens });
          const view = viewOf({ turns, compactions });
          if (extract === undefined || sum(view, count) <= extractAbove * size) return view;
          compactions = compact({ turns, compactions }, { extract, windowTokens });
          return viewOf({ turns, compactions });
        },
      };
    },
  };
}

function byRule(name: string, rule: (view: readonly Event[], count: CountTokens) => readonly Event[]): CycledRow {
  return {
    name,
    start: (_, count) => {
      let view: readonly Event[] = [];
      return {
        add: (events) => {
          view = [...view, ...visibleEvents([{ events }])];
        },
        compact: () => {
          view = rule(view, count);
          return view;
        },
      };
    },
  };
}

function addTo(turns: Turn[], events: readonly Event[], isNewTurn: boolean): void {
  const last = turns.at(-1);
  if (last === undefined || isNewTurn) turns.push({ index: turns.length, events });
  else turns[last.index] = { index: last.index, events: [...last.events, ...events] };
}

function sum(events: readonly Event[], count: CountTokens): number {
  return events.reduce((tokens, event) => tokens + count(event), 0);
}
