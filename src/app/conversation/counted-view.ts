// Loads a branch's view with what counts all of its conversation: turns that nothing shows are known by their facts, which are
// kept in a cache and worked out again where it lacks them.
import type { Compaction } from "../../core/conversation/compaction.ts";
import { planHalves, planReading } from "../../core/conversation/covered-range.ts";
import type { Turn } from "../../core/conversation/event.ts";
import { project } from "../../core/conversation/projection.ts";
import { TURNS_PER_DIRECTORY } from "../../core/conversation/turn-file.ts";
import {
  createFactsMeter,
  type MeterInput,
  type OverheadSource,
  type TokenMeter,
  type TokenSource,
} from "../../core/model/token-meter.ts";
import { countTurns, type TurnFacts, turnFacts } from "../../core/model/usage.ts";
import type { ConversationStore } from "../../store/store.ts";
import { openTurnFactsCache, type TurnFactsCache } from "./caches.ts";
import type { BranchTree } from "./tree.ts";
import { bringTurns, readTurnFiles, turnFiles } from "./turns.ts";
import {
  type KnownTurns,
  type LoadedView,
  learnKept,
  loadCompactions,
  loadTurns,
  toolsOfferedFrom,
  typicalOverhead,
} from "./view.ts";

/** A view with what counts its conversation. */
export interface CountedView extends LoadedView {
  /** The turns that were read, by position: at least those that the view shows. */
  readonly turns: ReadonlyMap<number, Turn>;
  /** Of every turn, in order, of some as stretches; of those that are `elsewhere` there are none. */
  readonly facts: readonly TurnFacts[];
  /** Turns of a partial clone that nothing shows and that are not here: nothing counts them. 0 elsewhere. */
  readonly elsewhere: number;
  readonly meter: TokenMeter;
}

/** Loads the view at the tree's commit, and the turns of `also` with it; `known` as in `loadView`. */
export function loadCounted(
  store: ConversationStore,
  tree: BranchTree,
  also: readonly number[] = [],
  known: KnownTurns = new Map(),
): Promise<CountedView> {
  return load(store, tree, { also, known, isWhole: true });
}

/** The same for who only looks: what nothing shows and is not here, in a partial clone, is not brought to be counted. */
export function loadCountedHere(
  store: ConversationStore,
  tree: BranchTree,
  also: readonly number[] = [],
  known: KnownTurns = new Map(),
): Promise<CountedView> {
  return load(store, tree, { also, known, isWhole: false });
}

async function load(
  store: ConversationStore,
  tree: BranchTree,
  { also, ...query }: Omit<FactsQuery, "shown"> & { readonly also: readonly number[] },
): Promise<CountedView> {
  const live = await loadCompactions(store, tree);
  const turnCount = tree.turnOids.length;
  const shown = new Set([...planReading(turnCount, live.applied), ...also]);
  const { facts, turns: read } = await readFacts(store, tree, { shown, ...query });
  const turns = await withOtherHalves(store, tree, { turns: read, compactions: live.applied, known: query.known });
  const located = await learnKept(store, tree.turnOids, { compactions: live.applied, turns });
  if (located !== live.applied) await keepHidden(store, tree, { turns, compactions: located });
  const elsewhere = turnCount - facts.reduce((count, one) => count + countTurns(one), 0);
  // What a provider counted was sent with turns that are not known here: it says nothing of the others.
  const counted = elsewhere === 0 ? facts : facts.map(withoutUsage);
  return {
    view: project({ turnCount, turns, compactions: live.applied }),
    live,
    turns,
    facts,
    elsewhere,
    meter: await createBranchMeter(store, tree, { facts: counted, turns, isWhole: query.isWhole }),
  };
}

/** The turns at hand with those hidden ones in which the other half of a call may be. */
async function withOtherHalves(
  store: ConversationStore,
  tree: BranchTree,
  {
    turns,
    compactions,
    known,
  }: Pick<FactsQuery, "known"> & {
    readonly turns: ReadonlyMap<number, Turn>;
    readonly compactions: readonly Compaction[];
  },
): Promise<ReadonlyMap<number, Turn>> {
  const more = planHalves(tree.turnOids.length, compactions, turns).filter((turn) => !turns.has(turn));
  if (more.length === 0) return turns;
  return new Map([...turns, ...(await loadTurns(store, tree, more, known))].sort(([a], [b]) => a - b));
}

function withoutUsage({ answers, stretch, ...facts }: TurnFacts): TurnFacts {
  return {
    ...facts,
    answers: answers.map((answer) => ({ ...answer, usage: null })),
    ...(stretch === undefined
      ? {}
      : { stretch: { ...stretch, inner: { before: [], turns: [], usage: [], models: [] } } }),
  };
}

/** Creates the meter of a branch; what its agent sends in front of it typically counts where nothing is recorded. */
async function createBranchMeter(
  store: ConversationStore,
  tree: BranchTree,
  { isWhole, ...input }: MeterInput & Pick<FactsQuery, "isWhole">,
): Promise<TokenMeter> {
  const definedFrom = await toolsOfferedFrom(store, tree);
  const meter = createFactsMeter({ ...input, definedFrom });
  if (meter.overheadSource !== "unknown") return meter;
  const typical = await typicalOverhead(store, tree, { mayBring: isWhole });
  return typical === null ? meter : createFactsMeter({ ...input, definedFrom, typicalOverhead: typical });
}

/** Creates a loader that reads a branch again only when it has moved. */
export function createCountedLoader(store: ConversationStore): (tree: BranchTree) => Promise<CountedView> {
  let last: { readonly commit: string; readonly loaded: CountedView } | null = null;
  return async (tree) => {
    if (last?.commit !== tree.commit) last = { commit: tree.commit, loaded: await loadCounted(store, tree) };
    return last.loaded;
  };
}

/** What is wanted of the turns. */
interface FactsQuery {
  /** Turns to be read whole. */
  readonly shown: ReadonlySet<number>;
  readonly known: KnownTurns;
  /** Whether all turns are counted, wherever they are. */
  readonly isWhole: boolean;
}

/**
 * Gives the facts of all turns, and the turns that are to be shown; no other turn is kept in memory. What is not here and not
 * shown has no facts.
 */
async function readFacts(
  store: ConversationStore,
  tree: BranchTree,
  { shown, known, isWhole }: FactsQuery,
): Promise<{ readonly facts: readonly TurnFacts[]; readonly turns: ReadonlyMap<number, Turn> }> {
  const { turnOids } = tree;
  const isLacking = shown.size < turnOids.length;
  const cache = isLacking ? openTurnFactsCache(store, turnOids) : null;
  const found = cache === null ? [] : findFacts(cache, turnOids.length, shown);
  const covered = new Set(found.flatMap(({ index, stretch }) => (stretch === undefined ? [] : index)));
  const isCovered = (index: number): boolean => covered.has(index - (index % TURNS_PER_DIRECTORY));
  const singles = new Map(found.flatMap((one) => (one.stretch === undefined ? [[one.index, one] as const] : [])));
  const absent = new Set(isLacking && !isWhole ? store.partial?.missing(turnOids) : []);
  const isWanted = (oid: string, index: number): boolean =>
    shown.has(index) || !(isCovered(index) || singles.has(index) || absent.has(oid));
  const lacking = turnOids.flatMap((oid, index) => (isWanted(oid, index) ? [index] : []));
  const isMixed = known.size > 0;
  const turns = new Map<number, Turn>();
  for await (const turn of readLacking(store, tree, { lacking, known })) {
    if (shown.has(turn.index)) {
      turns.set(turn.index, turn);
      known.set(turnOids[turn.index] ?? "", turn.events);
    }
    if (!isCovered(turn.index)) singles.set(turn.index, turnFacts(turn));
  }
  if (cache !== null && lacking.some((index) => !shown.has(index))) await cache.keep(singles.values());
  const stretches = found.filter(({ stretch }) => stretch !== undefined);
  // What was known came before what was read.
  const ordered = isMixed ? new Map([...turns].sort(([a], [b]) => a - b)) : turns;
  return { facts: [...stretches, ...singles.values()].sort((a, b) => a.index - b.index), turns: ordered };
}

/** What is known: of full directories, and elsewhere of turns that are not shown. */
function findFacts(cache: TurnFactsCache, turnCount: number, shown: ReadonlySet<number>): readonly TurnFacts[] {
  const found: TurnFacts[] = [];
  for (let from = 0; from < turnCount; from += TURNS_PER_DIRECTORY) {
    const facts = cache.findDirectory(from / TURNS_PER_DIRECTORY);
    if (facts !== null) found.push(facts);
    const end = facts === null ? Math.min(from + TURNS_PER_DIRECTORY, turnCount) : from;
    for (let index = from; index < end; index += 1) {
      const single = shown.has(index) ? null : cache.find(index);
      if (single !== null) found.push(single);
    }
  }
  return found;
}

/** The turns at some positions: first those that are known, then the others, one by one. */
async function* readLacking(
  store: ConversationStore,
  tree: BranchTree,
  { lacking, known }: { readonly lacking: readonly number[]; readonly known: KnownTurns },
): AsyncGenerator<Turn> {
  const oidOf = (index: number): string => tree.turnOids[index] ?? "";
  const wanted: number[] = [];
  for (const index of lacking) {
    const events = known.get(oidOf(index));
    if (events === undefined) wanted.push(index);
    else yield { index, events };
  }
  await bringTurns(store, tree, wanted);
  yield* readTurnFiles(store, tree.commit, turnFiles(tree, wanted));
}

/** Keeps the facts of those turns at hand that compactions hide, and of their directories: nobody has to read them for it. */
export async function keepHidden(
  store: ConversationStore,
  { turnOids }: BranchTree,
  { turns, compactions }: { readonly turns: ReadonlyMap<number, Turn>; readonly compactions: readonly Compaction[] },
): Promise<void> {
  const shown = new Set(planReading(turnOids.length, compactions));
  const isHidden = ({ index }: Turn): boolean => !shown.has(index);
  if (![...turns.values()].some(isHidden)) return;
  const cache = openTurnFactsCache(store, turnOids);
  const directoryOf = (index: number): number => Math.floor(index / TURNS_PER_DIRECTORY);
  const unknown = [...turns.values()].filter(
    (turn) => cache.findDirectory(directoryOf(turn.index)) === null && cache.find(turn.index) === null,
  );
  // A directory that is shown in part is at hand as a whole, too, and then kept as one.
  const hidden = new Set(unknown.filter(isHidden).map(({ index }) => directoryOf(index)));
  const facts = unknown.filter(({ index }) => hidden.has(directoryOf(index))).map((turn) => turnFacts(turn));
  if (facts.length > 0) await cache.keep(facts);
}

// Tokens as the reports give them: raw and of the view, with who counted them. One place, so that every command says the
// same of the same conversation.

/** Tokens of a conversation, system prompt and tools included where they are known. */
export interface TokenReport {
  readonly tokens: { readonly raw: number; readonly view: number };
  /** `recorded` when the provider counted both. */
  readonly tokens_source: TokenSource;
  /** Where the size of system prompt and tools is from; absent = recorded. */
  readonly overhead_source?: Exclude<OverheadSource, "recorded">;
}

/** Counts a branch, all of it and its view. */
export function reportTokens({ view, live, meter }: Pick<CountedView, "view" | "live" | "meter">): TokenReport {
  const raw = meter.countHistory();
  const shown = meter.countView(view, live.applied);
  const { overheadSource } = meter;
  return {
    tokens: { raw: raw.tokens, view: shown.tokens },
    tokens_source: worstSource([raw.source, shown.source]),
    ...(overheadSource === "recorded" ? {} : { overhead_source: overheadSource }),
  };
}

/** What may be said of several counts at once: `recorded` only when all are. */
export function worstSource(sources: readonly TokenSource[]): TokenSource {
  return sources.every((source) => source === "recorded") ? "recorded" : "estimate";
}
