// Plans a compaction against a branch: loads what planning needs, plans (pure), and says what the plan would do to the view.
import type { Config } from "../../config/config.ts";
import {
  areKeptAtHand,
  type CompactionRequest,
  knownOf,
  turnsLikely,
  type UnreadTurns,
} from "../../core/compact/compaction-request.ts";
import { type CompactionPlan, explainFromSome, planCompaction, trialOf } from "../../core/compact/plan.ts";
import { leastGain } from "../../core/compact/strategies/pipelines.ts";
import { isNothing, type Nothing, type RangeRequest } from "../../core/conversation/bound-resolution.ts";
import type { Turn, View } from "../../core/conversation/event.ts";
import { describePolicies } from "../../core/conversation/policy.ts";
import { project } from "../../core/conversation/projection.ts";
import type { TokenMeter, TokenSource } from "../../core/model/token-meter.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { type KnownTurns, type LiveCompactions, loadTurns } from "../branch/load-view.ts";
import { requirePins } from "../branch/pins.ts";
import { worstSource } from "../branch/token-report.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { TokenChange } from "./compact-report.ts";
import { strategyRequest, warnOfHints } from "./compact-strategies.ts";
import { type CompactInput, type LoadedForPlan, loadForPlan } from "./load-plan.ts";
import { withIndex } from "./plan-index.ts";

/** Stands beside the function that takes it. */
export type { CompactInput };

/** A plan with the views before and after it. */
export interface PlannedCompaction {
  readonly plan: CompactionPlan;
  readonly config: Config;
  readonly live: LiveCompactions;
  readonly turns: ReadonlyMap<number, Turn>;
  readonly before: View;
  /** With the draft in force; for a summary that is not written yet, with an empty one. */
  readonly after: View;
  readonly tokens: TokenChange;
  readonly tokens_source: TokenSource;
  /** Tokens that the index adds, those of the one that it replaces taken off; absent = the compaction has none. */
  readonly indexTokens?: number;
  readonly meter: TokenMeter;
  /** Ids of the pinned events that were read. */
  readonly pinned: readonly string[];
  /** The bounds that were named, as positions: what is planned next means the same turns. */
  readonly bounds: Pick<RangeRequest, "from" | "to">;
  /** Context window of the conversation's model, tokens. */
  readonly windowTokens: number;
  /** What went wrong without stopping the plan, and what looks like a slip, as sentences. */
  readonly problems: readonly string[];
}

/** Why there is nothing to compact, with the size of the view as it is. */
export interface NothingPlanned extends Nothing {
  readonly live: LiveCompactions;
  readonly tokens: TokenChange;
  readonly tokens_source: TokenSource;
  readonly meter: TokenMeter;
  readonly turnCount: number;
  readonly config: Config;
  readonly bounds: PlannedCompaction["bounds"];
  readonly windowTokens: number;
  /** As those of a plan: that a program failed may be why nothing was found. */
  readonly problems: readonly string[];
}

/**
 * Plans, or says why there is nothing to compact; `known` as in `loadView`. Throws `unknown_profile`, `pin_hidden`, `spliced_turns` and
 * the errors of a wrong range.
 */
export async function planOnBranch(
  workspace: Workspace,
  tree: BranchTree,
  input: CompactInput,
  known: KnownTurns = new Map(),
): Promise<PlannedCompaction | NothingPlanned> {
  const place = { workspace, tree, input };
  const planned = await planLoaded(await loadForPlan(workspace, tree, input, { known }), place);
  if (planned !== null) return planned;
  const whole = await planLoaded(await loadForPlan(workspace, tree, input, { known, isWhole: true }), place);
  if (whole === null) throw new Error("a plan that has read its whole range lacks no turn");
  return whole;
}

interface PlanPlace {
  readonly workspace: Workspace;
  readonly tree: BranchTree;
  readonly input: CompactInput;
}

/** Null when turns were left unread that it takes after all. */
async function planLoaded(
  loaded: LoadedForPlan,
  { workspace, tree, input }: PlanPlace,
): Promise<PlannedCompaction | NothingPlanned | null> {
  const { config, live, turns, before, meter, request } = loaded;
  const counted = meter.countView(before, live.applied);
  const known = { ...loaded, hints: request.hints ?? {}, workspace, tree, viewTokens: counted.tokens };
  const strategies = input.strategies === undefined ? null : await strategyRequest(input.strategies, known);
  const asked = { ...request, ...(strategies === null ? {} : { strategies: strategies.request }) };
  const plan = await settle(planCompaction(asked), { request: asked, facts: loaded.facts, workspace, tree });
  if (plan === null) return null;
  const problems = [...(strategies?.problems ?? []), ...warnOfHints(config, loaded.facts)];
  const nothing = (reason: Nothing): NothingPlanned => ({
    ...reason,
    live,
    problems,
    tokens: { before: counted.tokens, after: counted.tokens },
    tokens_source: counted.source,
    meter,
    turnCount: request.turnCount,
    config,
    bounds: loaded.bounds,
    windowTokens: loaded.windowTokens,
  });
  if (isNothing(plan)) return nothing(plan);
  const draft = trialOf(plan.compaction, plan.summarize !== undefined);
  const after = project({ turnCount: request.turnCount, turns, compactions: [...live.applied, draft] });
  requirePins(loaded.pinned, { turns: turns.values(), before, after });
  const left = meter.countView(after, [...live.applied, draft]);
  const tokens = { before: counted.tokens, after: left.tokens };
  const refused =
    input.force === true ? null : refuse(plan, { tokens, overhead: meter.overheadUnder(live.applied), input });
  if (refused !== null) return nothing(refused);
  const planned = {
    ...loaded,
    plan,
    after,
    tokens,
    tokens_source: worstSource([counted.source, left.source]),
    problems,
  };
  return (input.index ?? config.conversation.compaction.index) ? withIndex(tree.turnOids.length, planned) : planned;
}

type Settling = Pick<PlanPlace, "workspace" | "tree"> & Pick<LoadedForPlan, "request" | "facts">;

/**
 * Gives what was planned with turns left unread; null where it takes all of them: what is kept by name may stand in any, and why there
 * is nothing may show only there.
 */
async function settle(plan: CompactionPlan | Nothing, settling: Settling): Promise<CompactionPlan | Nothing | null> {
  const { unread } = settling.request;
  if (unread === undefined || unread.messages.size === 0) return plan;
  const { keep = [] } = settling.request;
  if (!isNothing(plan))
    return areKeptAtHand([...keep, ...(plan.compaction.keep ?? [])], settling.request) ? plan : null;
  return explainUnread(unread, settling);
}

/** Why there is nothing, from a few of the unread turns: where older compactions are the reason they show it. */
async function explainUnread(
  unread: UnreadTurns,
  { request, facts, workspace, tree }: Settling,
): Promise<Nothing | null> {
  const some = turnsLikely(unread, facts);
  if (some.length === 0) return null;
  const turns = new Map([...request.turns, ...(await loadTurns(workspace.store, tree, some))]);
  const rest = [...unread.messages.keys()].filter((turn) => !some.includes(turn));
  return explainFromSome({
    ...withoutPairs(request),
    turns: new Map([...turns].sort(([a], [b]) => a - b)),
    unread: knownOf(rest, facts),
  });
}

/** Which result answers which call is worked out again where more turns are at hand. */
function withoutPairs({ strategies, ...request }: CompactionRequest): CompactionRequest {
  if (strategies === undefined) return request;
  const { pairs: _, ...rest } = strategies;
  return { ...request, strategies: rest };
}

interface Trade {
  readonly tokens: TokenChange;
  /** Tokens of system prompt and tools before. */
  readonly overhead: number;
  readonly input: CompactInput;
}

/**
 * Why a plan is not followed unless it is forced: the view would grow, or a batch would save too little; null when neither is so. A
 * summary that is not written yet counts as empty: where even that saves nothing, no text can.
 */
function refuse(plan: CompactionPlan, { tokens, overhead, input }: Trade): Nothing | null {
  const { before, after } = tokens;
  const isOpen = plan.summarize !== undefined;
  if (after > before || (isOpen && after === before)) {
    const size = isOpen ? `at least ${after + 1}` : String(after);
    return {
      nothing: `the view would grow from ${before} to ${size} tokens`,
      hints: ["`jpg compact --force` compacts anyway; with `--dry-run` it shows where the view grows."],
    };
  }
  const { strategies } = input;
  if (isOpen || strategies?.minGainTokens === undefined) return null;
  const least = leastGain(before - overhead, strategies);
  const saved = before - after;
  if (saved >= least) return null;
  const { from_turn, to_turn } = plan.compaction;
  return {
    nothing: `the strategy ${strategies.names.join(", ")} would save ${saved} of ${before - overhead} tokens a call (turns ${from_turn}..${to_turn}: ${describePolicies(plan.compaction)}), and a batch is worth it from ${least}, because the cached prefix has to be rewritten`,
    hints: [
      `\`jpg compact ${strategies.names.map((name) => `-s ${name}`).join(" ")} --force\` does it anyway; \`--min-gain ${saved}\` lowers the floor to what it saves.`,
    ],
  };
}
