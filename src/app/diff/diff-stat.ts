// Counts what a diff changes, turn by turn: events removed, changed and added, tokens and characters before and after.
import type { Compaction } from "../../core/conversation/compaction.ts";
import { type CoveredRange, planRanges } from "../../core/conversation/covered-range.ts";
import { type Event, type Origin, sayTurns, traitsOf, type View } from "../../core/conversation/event.ts";
import { estimateEvent, estimateEvents } from "../../core/conversation/token-estimate.ts";
import { hasLooseCalls } from "../../core/conversation/tool-pairing.ts";
import { TURNS_PER_DIRECTORY } from "../../core/conversation/turn-file.ts";
import type { DiffMeasure } from "../../core/model/token-meter.ts";
import type { ConversationStore } from "../../store/store.ts";
import { directoryIds, openSealedCache } from "../conversation/caches.ts";
import { sha256 } from "../conversation/runtime.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { type KnownTurns, type LiveCompactions, loadCompactions, loadView } from "../conversation/view.ts";
import { type BlockPair, eventText, originLabel, type TextBlock } from "./view-text.ts";

/** What differs in one stretch of a view. Tokens are estimates; characters count the text a model sees. */
export interface DiffCounts {
  readonly events: { readonly removed: number; readonly changed: number; readonly added: number };
  readonly tokens: { readonly before: number; readonly after: number };
  readonly characters: { readonly before: number; readonly after: number };
}

/** What differs in one projected turn, or in kept turns that follow each other. Turn positions are raw, 0-based, inclusive. */
interface TurnDiffStat extends DiffCounts {
  /** Label, e.g. `turn 3` or `turns 0..12: summary k3f9q2`. */
  readonly turn: string;
  readonly kind: "kept" | "summary" | "replacement" | "index";
  readonly from_turn: number;
  readonly to_turn: number;
}

/** Rows of the turns that differ, in order, of some that went as a whole together; the total covers the unchanged ones too. */
export interface DiffStat {
  readonly turns: readonly TurnDiffStat[];
  /** Tokens of both views as every command counts them, `overhead` among them. */
  readonly total: DiffCounts;
  /** Tokens of system prompt and tools; absent where they are not known. */
  readonly overhead?: DiffCounts["tokens"];
}

const PLAIN: DiffMeasure = { factor: 1, overhead: { before: 0, after: 0 } };

/** Says whether a pair reads differently before and after. */
export function isChanged({ before, after }: BlockPair): boolean {
  if (before === null || after === null) return true;
  return before.heading !== after.heading || before.content !== after.content;
}

const SIDES = ["before", "after"] as const;

interface Tally {
  readonly origin: Origin;
  /** The last turn, where the counts are of several kept ones. */
  readonly to?: number;
  readonly events: { removed: number; changed: number; added: number };
  readonly tokens: { before: number; after: number };
  readonly characters: { before: number; after: number };
}

/** What a model is shown of a turn. */
interface ShownCounts {
  readonly events: number;
  /** Estimated. */
  readonly tokens: number;
  readonly characters: number;
}

/** What is known of kept turns that stand in one of the views without their events. */
interface CountedTurn extends ShownCounts {
  /** The last of the turns that it is of, raw position, 0-based; each of them shows something. */
  readonly to: number;
}

/** The same by raw position of the first. */
type CountedTurns = Readonly<Record<(typeof SIDES)[number], ReadonlyMap<number, CountedTurn>>>;

const NONE_COUNTED: CountedTurns = { before: new Map(), after: new Map() };

/** Counts what a model is shown of the events of a projected turn. */
function countShown(events: readonly Event[]): ShownCounts {
  const visible = events.filter((event) => traitsOf(event).providerVisible);
  return {
    events: visible.length,
    tokens: estimateEvents(visible),
    characters: visible.reduce((sum, event) => sum + (eventText(event)?.length ?? 0), 0),
  };
}

/** What `countDiff` is told beside the pairs. */
export interface DiffCounting {
  /** Of turns that stand in a view without their events. */
  readonly counted?: CountedTurns;
  readonly measure?: DiffMeasure;
}

/** Counts the pairs of an alignment; `changed` holds those that read differently. */
export function countDiff(
  pairs: readonly BlockPair[],
  changed: ReadonlySet<BlockPair>,
  { counted = NONE_COUNTED, measure = PLAIN }: DiffCounting = {},
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
    for (const side of SIDES) {
      addSize(pair[side], { side, tallyOf, tokensOf });
      const known = countedAt(pair[side], counted[side]);
      if (known !== null) tallies.set(`counted ${known.from}`, tallyCounted(known, side));
    }
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

/** What is known of a turn whose heading a block is; null where it says all itself. */
function countedAt(
  block: TextBlock | null,
  counted: ReadonlyMap<number, CountedTurn>,
): (CountedTurn & { readonly from: number }) | null {
  if (block === null || block.event !== null || block.origin.kind !== "kept") return null;
  const from = block.origin.turn;
  const known = counted.get(from);
  return known === undefined ? null : { ...known, from };
}

/** Turns that one view shows and the other does not. */
function tallyCounted(
  { from, to, ...known }: CountedTurn & { readonly from: number },
  side: (typeof SIDES)[number],
): Tally {
  const tally = emptyTally({ kind: "kept", turn: from });
  tally.events[side === "before" ? "removed" : "added"] = known.events;
  tally.tokens[side] = known.tokens;
  tally.characters[side] = known.characters;
  return { ...tally, to };
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

function turnStat({ origin, to: last, events, tokens: plain, characters }: Tally, factor: number): TurnDiffStat {
  const [from, to] = origin.kind === "kept" ? [origin.turn, last ?? origin.turn] : [origin.from, origin.to];
  const turn = origin.kind === "kept" ? sayTurns(from, to) : originLabel(origin);
  const tokens = { before: Math.round(factor * plain.before), after: Math.round(factor * plain.after) };
  return { turn, kind: origin.kind, from_turn: from, to_turn: to, events, tokens, characters };
}

/** Joins neighbouring turns that went as a whole into one row. */
export function joinGone(turns: readonly TurnDiffStat[]): readonly TurnDiffStat[] {
  const joined: TurnDiffStat[] = [];
  for (const turn of turns) {
    const last = joined.at(-1);
    if (last !== undefined && isGone(last) && isGone(turn) && turn.from_turn === last.to_turn + 1) {
      joined[joined.length - 1] = joinTurns(last, turn);
    } else joined.push(turn);
  }
  return joined;
}

function isGone({ kind, tokens, characters, events }: TurnDiffStat): boolean {
  return kind === "kept" && tokens.after === 0 && characters.after === 0 && events.changed + events.added === 0;
}

function joinTurns(a: TurnDiffStat, b: TurnDiffStat): TurnDiffStat {
  return {
    kind: a.kind,
    turn: sayTurns(a.from_turn, b.to_turn),
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

// The views before and after a compaction, for who only counts what differs. Turns that one of them shows and the other hides wholly
// stand there without their events where their counts are known: full directories of turns whose tool results answer calls of their
// own turn. What is counted is what reading all turns would count.

/** Both views, with what is known of the turns that stand in one of them without their events. */
interface CountedSides {
  readonly before: View;
  readonly after: View;
  readonly counted: CountedTurns;
}

/** A conversation at a commit. */
interface Side {
  readonly tree: Pick<BranchTree, "turnOids">;
  readonly compactions: readonly Compaction[];
}

/** A full directory of turns that one side shows and the other hides wholly. */
interface OneSided {
  readonly side: "before" | "after";
  readonly directory: number;
  /** What its counts are kept under. */
  readonly key: string;
}

/** Stands for the events of turns that are counted together, in the first of them; no model sees it. */
const STAND_IN: readonly Event[] = [{ type: "turn_start", id: "counted", timestamp: "" }];
/** What is left of the others. */
const NO_EVENTS: readonly Event[] = [];

/** Loads both views; `live` = the compactions at the later commit. */
export async function loadCountedSides(
  store: ConversationStore,
  { before, after, live }: { readonly before: BranchTree; readonly after: BranchTree; readonly live: LiveCompactions },
): Promise<CountedSides> {
  const lives = { before: await loadCompactions(store, before), after: live };
  const cache = openShownCounts(store, after.turnOids);
  const hidden = listOneSided(cache, {
    before: { tree: before, compactions: lives.before.applied },
    after: { tree: after, compactions: live.applied },
  });
  const counted = { before: new Map<number, CountedTurn>(), after: new Map<number, CountedTurn>() };
  const known: KnownTurns = new Map();
  const unknown = hidden.filter(({ side, directory, key }) => {
    const counts = cache.find(key);
    if (counts === null) return true;
    const first = directory * TURNS_PER_DIRECTORY;
    const rows = side === "before" ? joinCounts(counts, first) : eachCount(counts, first);
    for (const turn of counts.keys()) known.set(after.turnOids[first + turn] ?? "", NO_EVENTS);
    for (const [turn, row] of rows) {
      counted[side].set(turn, row);
      known.set(after.turnOids[turn] ?? "", STAND_IN);
    }
    return false;
  });
  const load = async (): Promise<Omit<CountedSides, "counted">> => ({
    before: (await loadView(store, before, { known, live: lives.before })).view,
    after: (await loadView(store, after, { known, live })).view,
  });
  const views = await load();
  if (!isByItself(known, views)) {
    for (const [oid, events] of known) if (events === STAND_IN || events === NO_EVENTS) known.delete(oid);
    return { ...(await load()), counted: { before: new Map(), after: new Map() } };
  }
  const rawOf = (turn: number): readonly Event[] | undefined => known.get(after.turnOids[turn] ?? "");
  await keep(cache, unknown, { views, rawOf });
  return { ...views, counted };
}

/** Keeps the counts of what a compaction hides from now on, from the turns and the view before it. */
export async function keepHiddenCounts(
  store: ConversationStore,
  tree: Pick<BranchTree, "turnOids">,
  {
    view,
    turns,
    compactions,
    added,
  }: {
    readonly view: View;
    readonly turns: ReadonlyMap<number, { readonly events: readonly Event[] }>;
    /** Those in force before. */
    readonly compactions: readonly Compaction[];
    readonly added: Compaction;
  },
): Promise<void> {
  const cache = openShownCounts(store, tree.turnOids);
  const sides = { before: { tree, compactions }, after: { tree, compactions: [...compactions, added] } };
  const fresh = listOneSided(cache, sides).filter(({ side, key }) => side === "before" && cache.find(key) === null);
  const views = { before: view, after: { turns: [] } };
  await keep(cache, fresh, { views, rawOf: (turn) => turns.get(turn)?.events });
}

function listOneSided(
  cache: ShownCountsCache,
  { before, after }: { readonly before: Side; readonly after: Side },
): readonly OneSided[] {
  const ranges = {
    before: planRanges(before.tree.turnOids.length, before.compactions),
    after: planRanges(after.tree.turnOids.length, after.compactions),
  };
  const former = before.tree === after.tree ? null : directoryIds(before.tree.turnOids);
  return directoryIds(after.tree.turnOids).flatMap((id, directory): readonly OneSided[] => {
    if (former !== null && former[directory] !== id) return [];
    const side = isHidden(directory, ranges.after) ? "before" : isHidden(directory, ranges.before) ? "after" : null;
    const key = side === null ? null : cache.keyOf(directory, ranges[side]);
    return side === null || key === null ? [] : [{ side, directory, key }];
  });
}

/** Of turns that went, together where each of them shows something: they are told of as one. */
function joinCounts(counts: readonly ShownCounts[], first: number): ReadonlyMap<number, CountedTurn> {
  if (counts.some(({ events }) => events === 0)) return eachCount(counts, first);
  const sum = (of: keyof ShownCounts): number => counts.reduce((total, one) => total + one[of], 0);
  const to = first + counts.length - 1;
  return new Map([[first, { to, events: sum("events"), tokens: sum("tokens"), characters: sum("characters") }]]);
}

function eachCount(counts: readonly ShownCounts[], first: number): ReadonlyMap<number, CountedTurn> {
  return new Map(counts.map((one, at) => [first + at, { ...one, to: first + at }]));
}

function isHidden(directory: number, ranges: readonly CoveredRange[]): boolean {
  return rangesIn(directory, ranges).every(({ hiddenBy }) => hiddenBy !== null);
}

/** Whether what was read shows as it does beside the turns that were not: each call is answered in its own turn, and shown. */
function isByItself(known: KnownTurns, { before, after }: Omit<CountedSides, "counted">): boolean {
  const events = [...known.values(), ...[...before.turns, ...after.turns].map((turn) => turn.events)];
  return events.every((own) => !hasLooseCalls({ events: own }));
}

interface CountedFrom {
  readonly views: Omit<CountedSides, "counted">;
  /** The events of a turn as they were said; undefined where it was not read. */
  readonly rawOf: (turn: number) => readonly Event[] | undefined;
}

async function keep(
  cache: ShownCountsCache,
  wanted: readonly OneSided[],
  { views, rawOf }: CountedFrom,
): Promise<void> {
  if (wanted.length === 0) return;
  const shown = { before: shownTurns(views.before), after: shownTurns(views.after) };
  const found = new Map<string, readonly ShownCounts[]>();
  for (const { side, directory, key } of wanted) {
    const counts: ShownCounts[] = [];
    for (let at = 0; at < TURNS_PER_DIRECTORY; at += 1) {
      const turn = directory * TURNS_PER_DIRECTORY + at;
      const [raw, events] = [rawOf(turn), shown[side].get(turn)];
      if (raw === undefined || events === undefined || hasLooseCalls({ events: raw })) break;
      counts.push(countShown(events));
    }
    if (counts.length === TURNS_PER_DIRECTORY) found.set(key, counts);
  }
  await cache.keep(found);
}

function shownTurns({ turns }: View): ReadonlyMap<number, readonly Event[]> {
  return new Map(
    turns.flatMap(({ origin, events }) => (origin.kind === "kept" ? [[origin.turn, events] as const] : [])),
  );
}

// Keeps what a model was shown of full directories of turns: how many events, tokens and characters of each turn. With them a diff
// counts what a compaction hides without reading it. They follow from the turns and from the compactions that shorten them, by
// which they are found.

/** Raised when views are made or counted otherwise. */
const CACHE = "shown-counts-2";
/** Directories in a file before the oldest are dropped. */
const MOST_ENTRIES = 1000;

/** By directory, events, tokens and characters of each of its turns. */
type StoredCounts = readonly (readonly [events: number, tokens: number, characters: number])[];

interface ShownCountsCache {
  /** What stands for a directory as these ranges of the conversation show it; null where what it shows has to do with more. */
  keyOf(directory: number, ranges: readonly CoveredRange[]): string | null;
  /** The counts of each of its turns; null when they are not known. */
  find(key: string): readonly ShownCounts[] | null;
  /** Keeps counts, and writes them; without effect where nothing can be written. */
  keep(counts: ReadonlyMap<string, readonly ShownCounts[]>): Promise<void>;
}

/** Opens what is known of the turns of a branch. */
function openShownCounts(store: ConversationStore, turnOids: readonly string[]): ShownCountsCache {
  const cache = openSealedCache(store, CACHE);
  const [first = ""] = turnOids;
  const body = cache.read(first);
  // What was sealed here was written by jpg: it is taken as it is.
  const known = new Map(
    body === null ? [] : (JSON.parse(String(body)) as readonly (readonly [string, StoredCounts])[]),
  );
  const ids = directoryIds(turnOids);
  const digests = new Map<Compaction, string>();
  const digestOf = (compaction: Compaction): string => {
    const digest = digests.get(compaction) ?? sha256(JSON.stringify(compaction));
    digests.set(compaction, digest);
    return digest;
  };
  return {
    keyOf(directory, ranges) {
      const form = formOf(directory, ranges, digestOf);
      const id = ids[directory];
      if (form === null || id === undefined) return null;
      return form === "" ? id : sha256(`${id}\n${form}`);
    },
    find: (key) => known.get(key)?.map(([events, tokens, characters]) => ({ events, tokens, characters })) ?? null,
    async keep(counts) {
      if (counts.size === 0) return;
      for (const [key, turns] of counts)
        known.set(
          key,
          turns.map(({ events, tokens, characters }) => [events, tokens, characters] as const),
        );
      await cache.write(JSON.stringify([...known].slice(-MOST_ENTRIES)), first);
    },
  };
}

/** What shortens the turns of a directory, as text; null where something of it is hidden, kept by name, or cut inside a turn. */
function formOf(
  directory: number,
  ranges: readonly CoveredRange[],
  digestOf: (compaction: Compaction) => string,
): string | null {
  const first = directory * TURNS_PER_DIRECTORY;
  const forms: string[] = [];
  for (const { from, to, overlays, hasDecisions, isCut } of rangesIn(directory, ranges)) {
    if (hasDecisions || isCut) return null;
    const [start, end] = [Math.max(from - first, 0), Math.min(to - first, TURNS_PER_DIRECTORY - 1)];
    for (const { compaction } of overlays) forms.push(`${start} ${end} ${digestOf(compaction)}`);
  }
  return forms.join("\n");
}

/** The ranges that hold turns of a directory. */
function rangesIn(directory: number, ranges: readonly CoveredRange[]): readonly CoveredRange[] {
  const first = directory * TURNS_PER_DIRECTORY;
  return ranges.filter(({ from, to }) => to >= first && from < first + TURNS_PER_DIRECTORY);
}
