// Loads a branch's view with all turns of its conversation and the meter that counts them. In a partial clone, reading commands
// count only what is present.
import type { Compaction } from "../../core/conversation/compaction.ts";
import { planHalves, planReading } from "../../core/conversation/covered-range.ts";
import type { Turn } from "../../core/conversation/event.ts";
import { project } from "../../core/conversation/projection.ts";
import {
  createFactsMeter,
  type OverheadSource,
  type TokenMeter,
  type TokenSource,
} from "../../core/model/token-meter.ts";
import { type TurnFacts, turnFacts } from "../../core/model/usage.ts";
import type { ConversationStore } from "../../store/store.ts";
import type { BranchTree } from "./tree.ts";
import {
  type KnownTurns,
  type LoadedTurns,
  loadCompactions,
  loadTurns,
  toolsOfferedFrom,
  typicalOverhead,
} from "./view.ts";

/** A view, its turns by position (ascending) and the meter of its conversation. */
export interface CountedView extends LoadedTurns {
  /** One per turn, in order, except those that are `elsewhere`. */
  readonly facts: readonly TurnFacts[];
  /** Number of turns that a partial clone lacks and nothing shows; they are not counted. 0 in a full store. */
  readonly elsewhere: number;
  readonly meter: TokenMeter;
}

/** Loads the view at the tree's commit and every turn; `known` as in `loadView`. */
export async function loadCounted(
  store: ConversationStore,
  tree: BranchTree,
  known: KnownTurns = new Map(),
): Promise<CountedView> {
  const live = await loadCompactions(store, tree);
  const turns = await loadTurns(store, tree, undefined, known);
  return count(store, tree, { live, turns, isWhole: true });
}

/**
 * Like `loadCounted`, for commands that only read: in a partial clone it fetches no turn just to count it, unless the view or
 * `also` (positions, 0-based) shows it.
 */
export async function loadCountedMinimal(
  store: ConversationStore,
  tree: BranchTree,
  also: readonly number[] = [],
  known: KnownTurns = new Map(),
): Promise<CountedView> {
  if (store.partial === null) return loadCounted(store, tree, known);
  const live = await loadCompactions(store, tree);
  const absent = new Set(store.partial.missing(tree.turnOids));
  const shown = new Set([...planReading(tree.turnOids.length, live.applied), ...also]);
  const here = tree.turnOids.flatMap((oid, turn) => (shown.has(turn) || !absent.has(oid) ? [turn] : []));
  const turns = await withOtherHalves(store, tree, {
    turns: await loadTurns(store, tree, here, known),
    compactions: live.applied,
    known,
  });
  return count(store, tree, { live, turns, isWhole: false });
}

/** Adds the hidden turns that may hold the other half of a shown call or result. */
async function withOtherHalves(
  store: ConversationStore,
  tree: BranchTree,
  {
    turns,
    compactions,
    known,
  }: {
    readonly turns: ReadonlyMap<number, Turn>;
    readonly compactions: readonly Compaction[];
    readonly known: KnownTurns;
  },
): Promise<ReadonlyMap<number, Turn>> {
  const more = planHalves(tree.turnOids.length, compactions, turns).filter((turn) => !turns.has(turn));
  if (more.length === 0) return turns;
  return new Map([...turns, ...(await loadTurns(store, tree, more, known))].sort(([a], [b]) => a - b));
}

async function count(
  store: ConversationStore,
  tree: BranchTree,
  { live, turns, isWhole }: Pick<LoadedTurns, "live" | "turns"> & { readonly isWhole: boolean },
): Promise<CountedView> {
  const turnCount = tree.turnOids.length;
  const facts = [...turns.values()].map((turn) => turnFacts(turn));
  const elsewhere = turnCount - facts.length;
  // The provider's counts include turns that are missing here, so they do not apply.
  const counted = elsewhere === 0 ? facts : facts.map(withoutUsage);
  return {
    view: project({ turnCount, turns, compactions: live.applied }),
    live,
    turns,
    facts,
    elsewhere,
    meter: await createBranchMeter(store, tree, { facts: counted, turns, isWhole }),
  };
}

function withoutUsage({ answers, ...facts }: TurnFacts): TurnFacts {
  return { ...facts, answers: answers.map((answer) => ({ ...answer, usage: null })) };
}

/** Creates the meter of a branch. Where no overhead is recorded, the agent's typical one is used. */
async function createBranchMeter(
  store: ConversationStore,
  tree: BranchTree,
  { isWhole, ...input }: Pick<CountedView, "facts" | "turns"> & { readonly isWhole: boolean },
): Promise<TokenMeter> {
  const definedFrom = await toolsOfferedFrom(store, tree);
  const meter = createFactsMeter({ ...input, definedFrom });
  if (meter.overheadSource !== "unknown") return meter;
  const typical = await typicalOverhead(store, tree, { mayFetch: isWhole });
  return typical === null ? meter : createFactsMeter({ ...input, definedFrom, typicalOverhead: typical });
}

/** Creates a loader that reads a branch again only after it moved. */
export function createCountedLoader(store: ConversationStore): (tree: BranchTree) => Promise<CountedView> {
  let last: { readonly commit: string; readonly loaded: CountedView } | null = null;
  return async (tree) => {
    if (last?.commit !== tree.commit) last = { commit: tree.commit, loaded: await loadCounted(store, tree) };
    return last.loaded;
  };
}

// Token counts of reports, in one place, so that all commands agree.

/** Tokens of a conversation, including system prompt and tools where known. */
export interface TokenReport {
  readonly tokens: { readonly raw: number; readonly view: number };
  /** `recorded` when the provider counted both. */
  readonly tokens_source: TokenSource;
  /** Source of the size of system prompt and tools; absent = recorded. */
  readonly overhead_source?: Exclude<OverheadSource, "recorded">;
}

/** Counts a branch's full history and its view. */
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

/** Returns the source of several counts together: `recorded` only if all are. */
export function worstSource(sources: readonly TokenSource[]): TokenSource {
  return sources.every((source) => source === "recorded") ? "recorded" : "estimate";
}
