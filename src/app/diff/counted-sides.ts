// The views before and after a compaction, for who only counts what differs. Turns that one of them shows and the other hides wholly
// stand there without their events where their counts are known: full directories of turns whose tool results answer calls of their
// own turn. What is counted is what reading all turns would count.
import type { Compaction } from "../../core/conversation/compaction.ts";
import { type CoveredRange, planRanges } from "../../core/conversation/covered-range.ts";
import type { Event, View } from "../../core/conversation/event.ts";
import { hasLooseCalls } from "../../core/conversation/tool-pairing.ts";
import { TURNS_PER_DIRECTORY } from "../../core/conversation/turn-file.ts";
import type { ConversationStore } from "../../store/store.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { directoryIds } from "../branch/directory-ids.ts";
import { type KnownTurns, type LiveCompactions, loadCompactions, loadView } from "../branch/load-view.ts";
import { type CountedTurn, type CountedTurns, countShown, type ShownCounts } from "./diff-stat.ts";
import { openShownCounts, rangesIn, type ShownCountsCache } from "./shown-counts.ts";

/** Both views, with what is known of the turns that stand in one of them without their events. */
export interface CountedSides {
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
