// Plans a compaction against a branch: loads what planning needs, plans (pure), and says what the plan would do to the view.
import type { CompactionConfig, Config } from "../../config/config.ts";
import { toolHints } from "../../config/tool-hints.ts";
import type { Compaction, StubStyle, Summary } from "../../core/compaction/compaction.ts";
import { pinnedEvents } from "../../core/compaction/pin.ts";
import type { Policies } from "../../core/compaction/policy.ts";
import { findProfile } from "../../core/compaction/profile.ts";
import type { Turn } from "../../core/event/turn.ts";
import { USUAL_WINDOW } from "../../core/model/context-window.ts";
import {
  type CompactionPlan,
  type CompactionRequest,
  planCompaction,
  planCompactionReading,
  trialOf,
} from "../../core/plan/plan-compaction.ts";
import { planReading } from "../../core/projection/hidden-turns.ts";
import { project } from "../../core/projection/projection.ts";
import type { View } from "../../core/projection/view.ts";
import {
  fixBounds,
  isNothing,
  type Nothing,
  needsTurnTimes,
  type RangeRequest,
} from "../../core/range/bound-resolution.ts";
import type { ChosenStrategies } from "../../core/strategies/pipelines.ts";
import { leadingPrompts } from "../../core/thread/leading-prompts.ts";
import type { TokenMeter, TokenSource } from "../../core/tokens/token-meter.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { loadConversationConfig } from "../branch/conversation-config.ts";
import { loadCounted } from "../branch/counted-view.ts";
import { type LiveCompactions, loadCompactions } from "../branch/load-view.ts";
import { readPins, requirePins } from "../branch/pins.ts";
import { refuseSplice } from "../branch/spliced-turns.ts";
import { worstSource } from "../branch/token-report.ts";
import { viewWindow } from "../models/view-window.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { TokenChange } from "./compact-report.ts";
import { strategyRequest, warnOfHints } from "./compact-strategies.ts";
import { withIndex } from "./plan-index.ts";

/** What the user asked for. */
export interface CompactInput {
  readonly range: Omit<RangeRequest, "keepLast">;
  readonly profile?: string;
  /** Policies in place of a profile's. */
  readonly policies?: Policies;
  readonly summary?: Summary;
  /** Strategies in place of a profile. */
  readonly strategies?: ChosenStrategies;
  /** How stubs are written. */
  readonly stubs?: StubStyle;
  /** Whether it carries an index of what is hidden; absent = as configured. */
  readonly index?: boolean;
  /** Take a batch that saves less than its least gain, and a view that grows. */
  readonly force?: boolean;
  /** Reach the answered calls of a turn that is not finished, though the end of the range is not named. */
  readonly intoLoop?: boolean;
  /** Who asked for it; absent = `manual`. */
  readonly source?: NonNullable<Compaction["source"]>;
  /** Ids of events in the range that stay as they are, beside pinned ones. */
  readonly keep?: readonly string[];
}

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
 * Plans, or says why there is nothing to compact. Throws `unknown_profile`, `pin_hidden`, `spliced_turns` and the errors of a wrong range.
 */
export async function planOnBranch(
  workspace: Workspace,
  tree: BranchTree,
  input: CompactInput,
): Promise<PlannedCompaction | NothingPlanned> {
  const loaded = await loadForPlan(workspace, tree, input);
  const { config, live, turns, before, meter, request } = loaded;
  const counted = meter.countView(before, live.applied);
  const known = { ...loaded, hints: request.hints ?? {}, workspace, tree, viewTokens: counted.tokens };
  const strategies = input.strategies === undefined ? null : await strategyRequest(input.strategies, known);
  const plan = planCompaction({ ...request, ...(strategies === null ? {} : { strategies: strategies.request }) });
  const problems = [...(strategies?.problems ?? []), ...warnOfHints(config, turns, request.turnCount)];
  const nothing = (reason: Nothing): NothingPlanned => ({
    ...reason,
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
  const small = input.force === true || plan.summarize !== undefined ? null : smallGain(tokens, input.strategies);
  if (small !== null) return nothing({ nothing: small });
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

type Loaded = Pick<
  PlannedCompaction,
  "config" | "live" | "turns" | "before" | "meter" | "pinned" | "bounds" | "windowTokens"
> & {
  readonly request: CompactionRequest;
};

/** Loads what planning needs: the rules, the turns, the view as it is. */
async function loadForPlan(workspace: Workspace, tree: BranchTree, input: CompactInput): Promise<Loaded> {
  await refuseSplice(workspace, tree);
  const [{ config }, live] = await Promise.all([
    loadConversationConfig(workspace, tree),
    loadCompactions(workspace.store, tree),
  ]);
  const settings = config.conversation.compaction;
  const { profile, policies } = chooseRules(input, settings);
  const { keep_last: keepLast, protected_messages: protectedMessages } = settings;
  const range: RangeRequest = {
    ...protectionOf(input),
    ...input.range,
    keepLast,
    ...(protectedMessages === undefined ? {} : { protectedMessages }),
  };
  const asked = {
    range,
    turnCount: tree.turnOids.length,
    compactions: live.applied,
    now: workspace.runtime.now().toISOString(),
    policies,
    hints: toolHints(config),
    ...(profile === null ? {} : { profile }),
    ...(input.strategies === undefined ? {} : { strategies: { uses: input.strategies.uses } }),
    ...(input.stubs === undefined ? {} : { stubs: input.stubs }),
    ...(input.summary === undefined ? {} : { summary: input.summary }),
    ...(input.source === undefined ? {} : { source: input.source }),
    intoLoop: input.intoLoop === true || input.force === true,
    beneath: input.force === true,
  };
  const { turns, view, meter } = await loadCounted(workspace.store, tree, positionsFor(asked));
  const window = await viewWindow(workspace, config, { turns, meter, next: null });
  const pinned = pinnedEvents(await readPins(workspace, tree), turns.values());
  const facts = { ...asked, turns, turnTimes: turnTimes(range, turns) };
  return {
    config,
    live,
    turns,
    before: view,
    meter,
    pinned,
    bounds: fixBounds(range, facts),
    windowTokens: window?.tokens ?? USUAL_WINDOW,
    request: { ...facts, keep: [...pinned, ...promptsOf(turns.get(0)), ...(input.keep ?? [])] },
  };
}

/** Ids of the system prompts that a conversation begins with: what was said is compacted, not what the model is to be. */
function promptsOf(first: Turn | undefined): readonly string[] {
  return first === undefined ? [] : leadingPrompts([first]).map(({ id }) => id);
}

/** A range whose end was named reaches it; that of strategies leaves the newest tokens alone else. */
function protectionOf({ range: { to, keep }, strategies }: CompactInput): Pick<RangeRequest, "protectTokens"> {
  if (strategies?.protectTokens === undefined || to !== undefined || keep !== undefined) return {};
  return { protectTokens: strategies.protectTokens };
}

/** Why a batch is not worth it; null when it is, and where any gain is. */
function smallGain({ before, after }: TokenChange, strategies: ChosenStrategies | undefined): string | null {
  const least = strategies?.minGainTokens;
  if (least === undefined || before - after >= least) return null;
  return `the strategy ${strategies?.names.join(", ")} would save ${before - after} tokens a call, and a batch is worth it from ${least} (--min-gain, --force)`;
}

/** Which profile decides, if one does, and by which policies. */
function chooseRules(
  input: CompactInput,
  settings: CompactionConfig,
): { readonly profile: string | null; readonly policies: Policies } {
  if (input.strategies !== undefined) return { profile: null, policies: input.policies ?? {} };
  const profile = input.profile ?? settings.default_profile;
  if (input.policies !== undefined) return { profile, policies: input.policies };
  if (input.summary !== undefined) return { profile, policies: { summary: { policy: "summarize" } } };
  return { profile, policies: findProfile(profile, settings.profiles) };
}

/** Every turn when times are asked for, else those that planning and the view read. */
function positionsFor(request: Omit<CompactionRequest, "turns" | "turnTimes">): number[] {
  const all = (): number[] => Array.from({ length: request.turnCount }, (_, index) => index);
  if (needsTurnTimes(request.range)) return all();
  const wanted = new Set([
    ...planReading(request.turnCount, request.compactions),
    ...planCompactionReading({ ...request, turnTimes: [] }),
  ]);
  return [...wanted].sort((a, b) => a - b);
}

function turnTimes(range: RangeRequest, turns: ReadonlyMap<number, Turn>): string[] {
  return needsTurnTimes(range) ? [...turns.values()].map((turn) => turn.events[0]?.timestamp ?? "") : [];
}
