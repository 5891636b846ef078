// Counts what a diff changes, turn by turn: events removed, changed and added, tokens and characters before and after.
import { describeTurns, type Event, type Origin } from "../../core/conversation/event.ts";
import { estimateEvent } from "../../core/conversation/token-estimate.ts";
import type { DiffMeasure } from "../../core/model/token-meter.ts";
import { type BlockPair, originLabel, type TextBlock } from "./view-text.ts";

/** Differences in one stretch of a view. Tokens are estimates; characters count the text that a model sees. */
export interface DiffCounts {
  readonly events: { readonly removed: number; readonly changed: number; readonly added: number };
  readonly tokens: { readonly before: number; readonly after: number };
  readonly characters: { readonly before: number; readonly after: number };
}

/** Differences in one projected turn. Turn positions are raw, 0-based, inclusive. */
interface TurnDiffStat extends DiffCounts {
  /** Label, e.g. `turn 3` or `turns 0..12: summary k3f9q2`. */
  readonly turn: string;
  readonly kind: "kept" | "summary" | "replacement" | "index";
  readonly from_turn: number;
  readonly to_turn: number;
}

/** Rows of the turns that differ, in order; the total includes unchanged turns. */
export interface DiffStat {
  readonly turns: readonly TurnDiffStat[];
  /** Tokens are counted as in every command, including `overhead`. */
  readonly total: DiffCounts;
  /** Tokens of system prompt and tools; absent = unknown. */
  readonly overhead?: DiffCounts["tokens"];
}

const PLAIN: DiffMeasure = { factor: 1, overhead: { before: 0, after: 0 } };

/** Returns whether a pair reads differently before and after. */
export function isChanged({ before, after }: BlockPair): boolean {
  if (before === null || after === null) return true;
  return before.heading !== after.heading || before.content !== after.content;
}

const SIDES = ["before", "after"] as const;

interface Tally {
  readonly origin: Origin;
  readonly events: { removed: number; changed: number; added: number };
  readonly tokens: { before: number; after: number };
  readonly characters: { before: number; after: number };
}

/** Counts the pairs of an alignment; `changed` = those that read differently. */
export function countDiff(
  pairs: readonly BlockPair[],
  changed: ReadonlySet<BlockPair>,
  measure: DiffMeasure = PLAIN,
): DiffStat {
  const tallies = new Map<string, Tally>();
  const tallyOf = (block: TextBlock): Tally => {
    const label = originLabel(block.origin);
    const known = tallies.get(label) ?? emptyTally(block.origin);
    tallies.set(label, known);
    return known;
  };
  const tokensOf = estimateOnce();
  for (const pair of pairs) {
    const block = pair.after ?? pair.before;
    if (changed.has(pair) && block !== null && block.event !== null) tallyOf(block).events[outcomeOf(pair)] += 1;
    for (const side of SIDES) addSize(pair[side], { side, tallyOf, tokensOf });
  }
  const all = [...tallies.values()];
  const { factor, overhead } = measure;
  const total = sumOf(all);
  const whole = (side: (typeof SIDES)[number]): number => Math.round(overhead[side] + factor * total.tokens[side]);
  return {
    turns: all.filter(differs).map((tally) => turnStat(tally, factor)),
    total: { ...total, tokens: { before: whole("before"), after: whole("after") } },
    ...(overhead.before + overhead.after === 0 ? {} : { overhead }),
  };
}

function outcomeOf({ before, after }: BlockPair): "removed" | "changed" | "added" {
  if (before === null) return "added";
  return after === null ? "removed" : "changed";
}

/** Estimates each event once, since views share events. */
function estimateOnce(): (event: Event) => number {
  const tokens = new Map<Event, number>();
  return (event) => {
    const known = tokens.get(event) ?? estimateEvent(event);
    tokens.set(event, known);
    return known;
  };
}

interface Sizing {
  readonly side: (typeof SIDES)[number];
  readonly tallyOf: (block: TextBlock) => Tally;
  readonly tokensOf: (event: Event) => number;
}

function addSize(block: TextBlock | null, { side, tallyOf, tokensOf }: Sizing): void {
  if (block === null || block.event === null) return;
  const tally = tallyOf(block);
  tally.tokens[side] += tokensOf(block.event);
  tally.characters[side] += block.content?.length ?? 0;
}

function emptyTally(origin: Origin): Tally {
  return {
    origin,
    events: { removed: 0, changed: 0, added: 0 },
    tokens: { before: 0, after: 0 },
    characters: { before: 0, after: 0 },
  };
}

function differs({ events }: Tally): boolean {
  return events.removed + events.changed + events.added > 0;
}

function turnStat({ origin, events, tokens: plain, characters }: Tally, factor: number): TurnDiffStat {
  const [from, to] = origin.kind === "kept" ? [origin.turn, origin.turn] : [origin.from, origin.to];
  const turn = origin.kind === "kept" ? describeTurns(from, to) : originLabel(origin);
  const tokens = { before: Math.round(factor * plain.before), after: Math.round(factor * plain.after) };
  return { turn, kind: origin.kind, from_turn: from, to_turn: to, events, tokens, characters };
}

/** Joins adjacent turns that were removed entirely into one row. */
export function joinRemovedTurns(turns: readonly TurnDiffStat[]): readonly TurnDiffStat[] {
  const joined: TurnDiffStat[] = [];
  for (const turn of turns) {
    const last = joined.at(-1);
    if (last !== undefined && isRemoved(last) && isRemoved(turn) && turn.from_turn === last.to_turn + 1) {
      joined[joined.length - 1] = joinTurns(last, turn);
    } else joined.push(turn);
  }
  return joined;
}

function isRemoved({ kind, tokens, characters, events }: TurnDiffStat): boolean {
  return kind === "kept" && tokens.after === 0 && characters.after === 0 && events.changed + events.added === 0;
}

function joinTurns(a: TurnDiffStat, b: TurnDiffStat): TurnDiffStat {
  return {
    kind: a.kind,
    turn: describeTurns(a.from_turn, b.to_turn),
    from_turn: a.from_turn,
    to_turn: b.to_turn,
    events: { removed: a.events.removed + b.events.removed, changed: 0, added: 0 },
    tokens: { before: a.tokens.before + b.tokens.before, after: 0 },
    characters: { before: a.characters.before + b.characters.before, after: 0 },
  };
}

function sumOf(tallies: readonly Tally[]): DiffCounts {
  const total = { removed: 0, changed: 0, added: 0 };
  const tokens = { before: 0, after: 0 };
  const characters = { before: 0, after: 0 };
  for (const tally of tallies) {
    total.removed += tally.events.removed;
    total.changed += tally.events.changed;
    total.added += tally.events.added;
    tokens.before += tally.tokens.before;
    tokens.after += tally.tokens.after;
    characters.before += tally.characters.before;
    characters.after += tally.characters.after;
  }
  return { events: total, tokens, characters };
}
