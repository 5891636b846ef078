// Counts what a diff changes, turn by turn: events removed, changed and added, tokens and characters before and after.
import type { Event } from "../../core/event/event.ts";
import { estimateEvent } from "../../core/tokens/token-estimate.ts";
import type { BlockPair } from "./view-alignment.ts";
import { originLabel, type TextBlock } from "./view-text.ts";

/** What differs in one stretch of a view. Tokens are estimates; characters count the text a model sees. */
export interface DiffCounts {
  readonly events: { readonly removed: number; readonly changed: number; readonly added: number };
  readonly tokens: { readonly before: number; readonly after: number };
  readonly characters: { readonly before: number; readonly after: number };
}

/** What differs in one projected turn. Turn positions are raw, 0-based, inclusive. */
export interface TurnDiffStat extends DiffCounts {
  /** Label, e.g. `turn 3` or `turns 0..12: summary k3f9q2`. */
  readonly turn: string;
  readonly kind: "kept" | "summary" | "replacement" | "index";
  readonly from_turn: number;
  readonly to_turn: number;
}

/** Rows of the turns that differ, in order; the total covers the unchanged ones too. */
export interface DiffStat {
  readonly turns: readonly TurnDiffStat[];
  readonly total: DiffCounts;
}

/** Says whether a pair reads differently before and after. */
export function isChanged({ before, after }: BlockPair): boolean {
  if (before === null || after === null) return true;
  return before.heading !== after.heading || before.content !== after.content;
}

const SIDES = ["before", "after"] as const;

interface Tally {
  readonly block: TextBlock;
  readonly events: { removed: number; changed: number; added: number };
  readonly tokens: { before: number; after: number };
  readonly characters: { before: number; after: number };
}

/** Counts the pairs of an alignment; `changed` holds those that read differently. */
export function countDiff(pairs: readonly BlockPair[], changed: ReadonlySet<BlockPair>): DiffStat {
  const tallies = new Map<string, Tally>();
  const tallyOf = (block: TextBlock): Tally => {
    const label = originLabel(block.origin);
    const known = tallies.get(label) ?? emptyTally(block);
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
  return { turns: all.filter(differs).map(turnStat), total: sumOf(all) };
}

function outcomeOf({ before, after }: BlockPair): "removed" | "changed" | "added" {
  if (before === null) return "added";
  return after === null ? "removed" : "changed";
}

/** Events that both views share are estimated once. */
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

function emptyTally(block: TextBlock): Tally {
  return {
    block,
    events: { removed: 0, changed: 0, added: 0 },
    tokens: { before: 0, after: 0 },
    characters: { before: 0, after: 0 },
  };
}

function differs({ events }: Tally): boolean {
  return events.removed + events.changed + events.added > 0;
}

function turnStat({ block: { origin }, events, tokens, characters }: Tally): TurnDiffStat {
  const [from, to] = origin.kind === "kept" ? [origin.turn, origin.turn] : [origin.from, origin.to];
  return { turn: originLabel(origin), kind: origin.kind, from_turn: from, to_turn: to, events, tokens, characters };
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
