// Sizes and token counts of a branch: raw, and in the view.
import type { Config } from "../../config/config.ts";
import { type Event, isMessage, type ProjectedTurn } from "../../core/conversation/event.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import type { TokenEstimate } from "../../core/conversation/token-estimate.ts";
import { turnIndexOfPath } from "../../core/conversation/turn-file.ts";
import type { Calibration } from "../../core/model/calibration.ts";
import { tradeOf } from "../../core/model/money.ts";
import type { OverheadSource, TokenMeter, TokenSource } from "../../core/model/token-meter.ts";
import type { ConversationStore, TreeFile } from "../../store/store.ts";
import { type CountedView, loadCountedMinimal, reportTokens } from "../conversation/counted-view.ts";
import type { BranchTree } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { viewWindow } from "../models/models.ts";
import { lastAnswer, nextCallTerms } from "../models/next-call.ts";
import { addCosts, costByTurn, type RecordedCost } from "./recorded-cost.ts";
import { readSavings, type Savings } from "./savings.ts";

export interface StatsReport {
  readonly turns: number;
  readonly events: number;
  /** Turns that a partial clone lacks: only `turns` counts them. Absent = none. */
  readonly turns_elsewhere?: number;
  /** Bytes of the events: of their lines, and of the texts and images that were moved out of them. */
  readonly bytes: number;
  readonly tokens: {
    readonly raw: number;
    readonly view: number;
    /** Tokens by kind, e.g. `tool_results`: raw, and in the view. `overhead`: system prompt and tools. */
    readonly by_kind: Readonly<Record<string, { readonly raw: number; readonly view: number }>>;
  };
  /** Who counted `tokens`: the provider, or an estimate of ours. */
  readonly tokens_source?: TokenSource;
  /** Where the size of system prompt and tools is from; `unknown`: they are not counted. */
  readonly overhead_source?: OverheadSource;
  /** How estimates follow the recorded usage; absent when too little is recorded. */
  readonly calibration?: Calibration;
  /** The newest request with recorded usage, and how much of it is not in the view; absent = none is recorded. */
  readonly last_request?: { readonly tokens: number; readonly not_in_view: number };
  /**
   * US dollars: what the agent counted for its session so far, and the recorded requests at today's list prices, null = unknown;
   * absent = the agent counts none.
   */
  readonly cost?: { readonly agent_usd: number; readonly list_usd: number | null };
  /** The model that answered last, and its window, tokens; absent = none answered, or its window is unknown. */
  readonly window?: { readonly model: string; readonly tokens: number };
  /** What it costs to send the view once more; absent where a price, or whether the provider caches, is not known. */
  readonly next_call?: NextCallPrice;
  /** The recorded requests at today's list prices, as in COST of `jpg ls`; absent = none is recorded, or a price is unknown. */
  readonly paid?: { readonly requests: number; readonly usd: number };
  /** What jpg's compactions saved so far; absent = no recorded request is known to have run on the shortened view. */
  readonly saved?: Savings;
  readonly id?: string;
  readonly branch?: string;
  /** The commit that was counted. */
  readonly commit?: string;
  /** The expression for that commit, e.g. `main~2`, if it is not the tip. */
  readonly revision?: string;
  /** Messages (requests of the user and answers) in the view. */
  readonly messages?: number;
  readonly compactions?: number;
}

/** The price of sending a view, without the new request and its answer. */
interface NextCallPrice {
  /** US dollars at list price. */
  readonly usd: number;
  /** `cached`: read from the provider's cache; `expired`: the cache is gone; `shortened`: the view has changed since the last answer. */
  readonly cache: "cached" | "expired" | "shortened";
}

/** Sums the bytes of turns and of the payloads that were moved out of events; in a partial clone, of those that are here. */
async function sumBytes(store: ConversationStore, { commit }: Pick<BranchTree, "commit">): Promise<number> {
  const files = await store.listTree(commit, { under: ["turns", "attachments"], sizes: "here" });
  // Attachments are also lines of the agent's file and definitions of tools.
  const isCounted = ({ path }: TreeFile): boolean => turnIndexOfPath(path) !== null || !/\.jsonl?$/.test(path);
  return files.filter(isCounted).reduce((sum, { size = 0 }) => sum + size, 0);
}

/** Counts a branch. */
export async function readStats(workspace: Workspace, tree: BranchTree): Promise<StatsReport> {
  const bytes = await sumBytes(workspace.store, tree);
  const loaded = await loadCountedMinimal(workspace.store, tree);
  const { facts, view, live, meter, elsewhere } = loaded;
  const { config } = await workspace.config();
  const { tokens, tokens_source } = reportTokens(loaded);
  const raw = byKind(meter.countHistoryByKind(), tokens.raw, meter.overhead);
  const viewed = byKind(viewKinds(loaded), tokens.view, meter.overheadUnder(live.applied));
  const window = await viewWindow(workspace, config, { ...loaded, next: null });
  const recorded = addCosts((await costByTurn(workspace, config, facts)).values());
  return {
    turns: tree.turnOids.length,
    ...(elsewhere === 0 ? {} : { turns_elsewhere: elsewhere }),
    events: facts.reduce((sum, turn) => sum + turn.events, 0),
    bytes,
    tokens: {
      ...tokens,
      by_kind: Object.fromEntries(
        Object.entries(raw)
          .map(([kind, count]) => [kind, { raw: count, view: viewed[kind] ?? 0 }] as const)
          .filter(([kind, sizes]) => !RARE_KINDS.has(kind) || sizes.raw + sizes.view > 0),
      ),
    },
    tokens_source,
    overhead_source: meter.overheadSource,
    ...(meter.calibration === null ? {} : { calibration: meter.calibration }),
    last_request: lastRequest(meter, tokens.view),
    cost: compareCost(loaded, recorded),
    ...(window === null || window.tokens === null ? {} : { window: { model: window.model, tokens: window.tokens } }),
    next_call: await priceNextCall(workspace, config, loaded),
    paid:
      recorded === null || recorded.price_usd === null
        ? undefined
        : { requests: recorded.requests, usd: recorded.price_usd },
    saved: await readSavings(workspace, config, loaded),
    id: conversationOf(tree.branch),
    branch: tree.branch,
    commit: tree.commit,
    revision: tree.revision,
    messages: view.turns
      .filter((turn) => turn.origin.kind === "kept")
      .flatMap((turn) => turn.events)
      .filter(isMessage).length,
    compactions: live.all.length,
  };
}

/** Kinds that few conversations have: listed only where there is some of them. */
const RARE_KINDS: ReadonlySet<string> = new Set(["system", "summaries", "index"]);

/** Counts a view by kind; a summary's own answer is part of the summary. */
function viewKinds({ view, meter }: CountedView): TokenEstimate {
  const isSummary = ({ origin }: ProjectedTurn): boolean => origin.kind === "summary";
  const eventsOf = (turns: readonly ProjectedTurn[]): readonly Event[] => turns.flatMap(({ events }) => events);
  const said = meter.countByKind(eventsOf(view.turns.filter((turn) => !isSummary(turn))));
  const { total } = meter.countByKind(eventsOf(view.turns.filter(isSummary)));
  return { ...said, summaries: said.summaries + total, total: said.total + total };
}

/** A view that jpg changed since the last answer is sent as a new session: nothing of it is counted as cached. */
async function priceNextCall(
  workspace: Workspace,
  config: Config,
  { view, live, turns, meter }: CountedView,
): Promise<NextCallPrice | undefined> {
  const answered = lastAnswer(turns.values());
  const terms = await nextCallTerms(workspace, config, turns.values());
  if (answered === null || terms === null) return undefined;
  const isChanged = live.applied.some(({ timestamp }) => Date.parse(timestamp) > answered.at);
  const { tokens } = meter.countView(view, live.applied);
  const isWarm = terms.isWarm && !isChanged;
  const { with_usd: usd } = tradeOf({ kept: tokens, rewritten: 0, dropped: 0 }, { ...terms, isWarm });
  return { usd, cache: isWarm ? "cached" : terms.isWarm ? "shortened" : "expired" };
}

/** The newest sum that the agent noted, next to jpg's. */
function compareCost({ turns }: Pick<CountedView, "turns">, recorded: RecordedCost | null): StatsReport["cost"] {
  const agent = [...turns.values()]
    .flatMap(({ events }) => events.map(({ metadata }) => metadata?.["session_cost_usd"]))
    .findLast((sum): sum is number => typeof sum === "number" && sum >= 0);
  if (agent === undefined) return undefined;
  return { agent_usd: agent, list_usd: recorded?.price_usd ?? null };
}

/** What that request held and the view does not: compacted since, or added by the agent without a trace in its session. */
function lastRequest({ newestRequest }: TokenMeter, view: number): StatsReport["last_request"] {
  if (newestRequest === null) return undefined;
  const { tokens, since } = newestRequest;
  return { tokens, not_in_view: Math.max(0, tokens + since - view) };
}

/** Tokens by kind, with `overhead` if known; the sum is `whole`, and the largest kind absorbs the rounding. */
function byKind({ total, ...counts }: TokenEstimate, whole: number, overhead: number): Record<string, number> {
  const kinds: Record<string, number> = counts;
  const [largest = "requests", most = 0] = Object.entries(kinds).sort(([, a], [, b]) => b - a)[0] ?? [];
  kinds[largest] = Math.max(0, most + whole - total - overhead);
  return overhead === 0 ? kinds : { ...kinds, overhead };
}
