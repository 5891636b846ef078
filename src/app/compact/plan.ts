// Plans a compaction on a branch by policies or strategies: loads what planning needs, then plans.
import {
  type CompactionConfig,
  type Config,
  recordedTools,
  selectDeltas,
  settingsOf,
  toolHints,
} from "../../config/config.ts";
import type { CompactionRequest, PlanInput } from "../../core/compact/compaction-request.ts";
import { indexHidden } from "../../core/compact/hidden-index.ts";
import { type CompactionDraft, type CompactionPlan, planCompaction, trialOf } from "../../core/compact/plan.ts";
import { findContainedReads } from "../../core/compact/shown-lines.ts";
import { type ChosenStrategies, leastGain } from "../../core/compact/strategies/pipelines.ts";
import type { StrategyFacts } from "../../core/compact/strategies/strategy-names.ts";
import { listPairedCalls } from "../../core/compact/tool-call.ts";
import { type ToolCompactionHints, warnOfUnknownTools } from "../../core/compact/tool-hints.ts";
import { freezeBounds, isNothing, type Nothing, type RangeRequest } from "../../core/conversation/bound-resolution.ts";
import { isHiding, withoutIndex } from "../../core/conversation/compaction.ts";
import { definedTools } from "../../core/conversation/defined-tools.ts";
import type { Turn, View } from "../../core/conversation/event.ts";
import { pinnedEvents } from "../../core/conversation/marks.ts";
import { describePolicies, findProfile, type Policies } from "../../core/conversation/policy.ts";
import { project } from "../../core/conversation/projection.ts";
import type { RangeBound } from "../../core/conversation/range-bound.ts";
import { hiddenEvents } from "../../core/conversation/survey.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { type CallPairs, pairCalls } from "../../core/conversation/tool-pairing.ts";
import { leadingPrompts } from "../../core/model/thread.ts";
import {
  estimateTool,
  type TokenMeter,
  type TokenSource,
  USUAL_WINDOW,
  wasAskedByJpg,
} from "../../core/model/token-meter.ts";
import type { TurnFacts } from "../../core/model/usage.ts";
import { loadCounted, worstSource } from "../conversation/counted-view.ts";
import { loadConversationConfig, readDeltas, readPins, requirePins } from "../conversation/marks.ts";
import { refuseSplice } from "../conversation/spliced-turns.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { type KnownTurns, type LiveCompactions, readToolDefinitions } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { viewWindow } from "../models/models.ts";
import { describeGrowth, type TokenChange } from "./compact-report.ts";
import { findSubsumed, type Subsumption, type SubsumptionOptions } from "./subsumption.ts";
import type { SummaryRequest } from "./summary-source.ts";

/**
 * A request of a front end: what to compact and how, how a summary is written, and where it is stored. Planning uses only what it
 * needs.
 */
export interface CompactRequest extends Omit<CompactionRequest, "calls">, SummaryRequest {
  /** Whether to add an index of what is hidden; absent = as configured. */
  readonly index?: boolean;
  /** Accept a batch that saves less than its least gain, a view that grows, and a summary that is longer than what it replaces. */
  readonly force?: boolean;
  /** Stop before the commit. */
  readonly dryRun?: boolean;
  /** Start of a pipeline's later summary; absent = that of the pipeline's own steps. */
  readonly summaryFrom?: RangeBound;
  /** Commit on a new fork; absent = as configured (`fork`). */
  readonly fork?: boolean;
  /** Make that fork active. */
  readonly activate?: boolean;
  /** Digest for which an accepted summary was written; refused when it no longer fits. */
  readonly expects?: { readonly covers: string };
}

export interface LoadedForPlan {
  readonly config: Config;
  readonly live: LiveCompactions;
  /** All turns, by position. */
  readonly turns: ReadonlyMap<number, Turn>;
  /** One per turn, in order. */
  readonly facts: readonly TurnFacts[];
  readonly before: View;
  readonly meter: TokenMeter;
  /** Ids of pinned events. */
  readonly pinned: readonly string[];
  /** The given bounds as positions, so that the next plan means the same turns. */
  readonly bounds: Pick<RangeRequest, "from" | "to">;
  /** The model that answered last, `provider/model`; null = none. */
  readonly model: string | null;
  /** Its context window, tokens; null = unknown. */
  readonly knownWindow: number | null;
  /** Like `knownWindow`, the usual one if unknown. */
  readonly windowTokens: number;
  readonly request: PlanInput;
}

/**
 * Loads what planning needs; `known` as in `loadView`. Throws `unknown_profile`, `spliced_turns` and the errors of a wrong range.
 */
export async function loadForPlan(
  workspace: Workspace,
  tree: BranchTree,
  input: CompactRequest,
  known: KnownTurns = new Map(),
): Promise<LoadedForPlan> {
  await refuseSplice(workspace, tree);
  const [{ config }, { live, turns, facts, view, meter }] = await Promise.all([
    loadConversationConfig(workspace, tree),
    loadCounted(workspace.store, tree, known),
  ]);
  const settings = config.conversation.compaction;
  const { profile, policies } = chooseRules(input, settings);
  const range = rangeOf(input, settings, profile);
  const asked = {
    range,
    turnCount: tree.turnOids.length,
    compactions: live.applied,
    now: workspace.runtime.now().toISOString(),
    policies,
    hints: toolHints(config),
    ...(profile === null ? {} : { profile }),
    strategies: input.strategies,
    stubs: input.stubs,
    summary: input.summary,
    source: input.source,
    intoLoop: input.intoLoop === true || input.force === true,
    evenIfHidden: input.force === true,
  };
  const pins = await readPins(workspace, tree);
  const { keep = [] } = input;
  const window = await viewWindow(workspace, config, { turns, meter, next: null });
  const pinned = pinnedEvents(pins, turns.values());
  const turnTimes = [...turns.values()].map(({ events: [first] }) => first?.timestamp ?? "");
  const plan = { ...asked, turns, turnTimes };
  return {
    config,
    live,
    turns,
    facts,
    before: view,
    meter,
    pinned,
    bounds: freezeBounds(range, plan),
    model: window?.model ?? null,
    knownWindow: window?.tokens ?? null,
    windowTokens: window?.tokens ?? USUAL_WINDOW,
    request: { ...plan, keep: [...pinned, ...promptsOf(turns.get(0)), ...keep] },
  };
}

/** Returns the range of a request, with the protection of its profile or of the settings where it names none. */
export function rangeOf(
  input: Pick<CompactRequest, "range" | "strategies">,
  { keep_last, profiles, protected_messages: protectedMessages }: CompactionConfig,
  profile: string | null = null,
): RangeRequest {
  const own = profile !== null && Object.hasOwn(profiles, profile) ? profiles[profile] : undefined;
  return {
    ...input.range,
    protectTokens: input.range.protectTokens ?? protectionOf(input),
    keepLast: own?.keep_last ?? keep_last,
    protectedMessages,
  };
}

/** Returns the tokens that a strategy protects, unless the range's end was given. */
function protectionOf({
  range: { to, keep },
  strategies,
}: Pick<CompactRequest, "range" | "strategies">): number | undefined {
  return to === undefined && keep === undefined ? strategies?.protectTokens : undefined;
}

/** Chooses the profile, if one applies, and the policies. */
function chooseRules(
  input: CompactRequest,
  settings: CompactionConfig,
): { readonly profile: string | null; readonly policies: Policies } {
  if (input.strategies !== undefined) return { profile: null, policies: input.policies ?? {} };
  const isExplicit = input.policies !== undefined || input.summary !== undefined;
  if (isExplicit)
    return { profile: input.profile ?? null, policies: input.policies ?? { summary: { policy: "summarize" } } };
  const profile = input.profile ?? settings.default_profile;
  const { keep_last: _, ...policies } = findProfile(profile, settings.profiles);
  return { profile, policies };
}

/** The result of planning with the views before and after: a plan, or why there is nothing to compact. */
export interface PlannedCompaction<Plan extends CompactionPlan | Nothing = CompactionPlan>
  extends Pick<LoadedForPlan, "config" | "live" | "turns" | "before" | "meter" | "pinned" | "bounds" | "windowTokens"> {
  readonly plan: Plan;
  /** With the draft applied, an unwritten summary empty. Without a plan, the view before. */
  readonly after: View;
  readonly tokens: TokenChange;
  readonly tokens_source: TokenSource;
  /** Tokens that the index adds, less those of the index that it replaces; absent = no index. */
  readonly indexTokens?: number;
  /** Problems that did not stop the plan, and likely slips, as sentences; they may explain why nothing was found. */
  readonly problems: readonly string[];
}

export type Planned = PlannedCompaction | PlannedCompaction<Nothing>;

/** Returns whether there is nothing to compact. */
export function isNothingPlanned(planned: Planned): planned is PlannedCompaction<Nothing> {
  return isNothing(planned.plan);
}

/**
 * Plans a compaction, or says why there is nothing to compact; `known` as in `loadView`. Throws `unknown_profile`, `pin_hidden`,
 * `spliced_turns` and the errors of a wrong range.
 */
export async function planOnBranch(
  workspace: Workspace,
  tree: BranchTree,
  input: CompactRequest,
  known: KnownTurns = new Map(),
): Promise<Planned> {
  const loaded = await loadForPlan(workspace, tree, input, known);
  const { config, live, turns, before, meter, request } = loaded;
  const counted = meter.countView(before, live.applied);
  const facts = { ...loaded, hints: request.hints ?? {}, workspace, tree, viewTokens: counted.tokens };
  const gathered = input.strategies === undefined ? null : await gatherFacts(input.strategies, facts);
  const plan = planCompaction({ ...request, strategyFacts: gathered?.known ?? request.strategyFacts });
  const problems = [...(gathered?.problems ?? []), ...warnOfHints(config, loaded.facts)];
  const nothing = (reason: Nothing): PlannedCompaction<Nothing> => ({
    ...loaded,
    plan: reason,
    after: before,
    tokens: { before: counted.tokens, after: counted.tokens },
    tokens_source: counted.source,
    problems,
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

interface Trade {
  readonly tokens: TokenChange;
  readonly overhead: number;
  readonly input: CompactRequest;
}

/**
 * Returns why a plan is refused unless forced (the view would grow, or a batch would save too little); null = it is not. An
 * unwritten summary counts as empty: if even that saves nothing, no text can.
 */
function refuse(plan: CompactionPlan, { tokens, overhead, input }: Trade): Nothing | null {
  const { before, after } = tokens;
  const isOpen = plan.summarize !== undefined;
  if (after > before || (isOpen && after === before)) {
    return {
      nothing: `the view would grow ${describeGrowth(isOpen ? { before, after: after + 1 } : tokens, isOpen)}`,
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
    nothing: `the strategy ${strategies.names.join(", ")} would save ${formatTokens(saved)} of ${formatTokens(before - overhead)} tokens a call (turns ${from_turn}..${to_turn}: ${describePolicies(plan.compaction)}), but a batch is worth it only from ${formatTokens(least)}, because the cached prefix has to be rewritten`,
    hints: [
      `\`jpg compact ${strategies.names.map((name) => `-s ${name}`).join(" ")} --force\` does it anyway; \`-s ${strategies.names.includes("auto") ? "auto" : "mask-results"}:min-gain=${saved}\` lowers the floor to what it saves.`,
    ],
  };
}

/** Lists the ids of leading system prompts, which are never compacted. */
function promptsOf(first: Turn | undefined): readonly string[] {
  return first === undefined ? [] : leadingPrompts([first]).map(({ id }) => id);
}

/**
 * Adds the index of what a plan hides; returns the plan unchanged if there is nothing to list, or the view would not shrink with
 * it.
 */
function withIndex(turnCount: number, planned: PlannedCompaction): PlannedCompaction {
  const { plan, turns, live, meter, tokens } = planned;
  const isSummary = plan.summarize !== undefined;
  const older = live.applied.map((compaction) => withoutIndex(compaction));
  const bare = project({ turnCount, turns, compactions: [...older, trialOf(plan.compaction, isSummary)] });
  const shown = bare.turns.flatMap(({ events }) => events);
  // A fork that ends with the range must not see what came after it.
  const replaced = live.applied.filter((compaction) => compaction.to_turn <= plan.compaction.to_turn);
  const former = replaced.findLast((compaction) => compaction.index !== undefined)?.index?.text;
  const index = indexHidden({
    turns: turnsUpTo(turns, plan.compaction),
    shown,
    former,
  });
  if (index === null) return planned;
  const needs = [...(plan.compaction.needs ?? []), "index"];
  const compaction = { ...plan.compaction, index, needs };
  const compactions = [...live.applied, trialOf(compaction, isSummary)];
  const after = project({ turnCount, turns, compactions });
  const left = meter.countView(after, compactions);
  if (left.tokens >= tokens.before) return planned;
  return {
    ...planned,
    plan: { ...plan, compaction },
    after,
    tokens: { ...tokens, after: left.tokens },
    indexTokens: left.tokens - tokens.after,
    tokens_source: worstSource([planned.tokens_source, left.source]),
  };
}

/** Lists the raw turns up to the end of a range. */
function turnsUpTo(turns: ReadonlyMap<number, Turn>, end: CompactionDraft): readonly Turn[] {
  return [...turns.values()]
    .filter(({ index }) => index <= end.to_turn)
    .sort((a, b) => a.index - b.index)
    .map((turn) => {
      const last = turn.index === end.to_turn ? turn.events.findIndex(({ id }) => id === end.to_event) : -1;
      return last < 0 ? turn : { ...turn, events: turn.events.slice(0, last + 1) };
    });
}

// Gathers the facts for strategies: the hints in force, the tools that the conversation defines, and the calls that a later one
// makes obsolete.

interface Facts {
  readonly workspace: Workspace;
  readonly tree: BranchTree;
  readonly hints: ToolCompactionHints;
  readonly live: LiveCompactions;
  /** At least those that the view shows, ascending. */
  readonly turns: ReadonlyMap<number, Turn>;
  /** One per turn, in order. */
  readonly facts: readonly TurnFacts[];
  readonly before: View;
  readonly viewTokens: number;
  readonly meter: TokenMeter;
  readonly windowTokens: number;
}

/** Facts for strategies, and problems while gathering them, as sentences. */
interface GatheredFacts {
  readonly known: StrategyFacts;
  readonly problems: readonly string[];
}

/** Gathers what strategies need. Runs the programs named by `subsumes` hints. */
export async function gatherFacts({ uses }: ChosenStrategies, known: Facts): Promise<GatheredFacts> {
  const { turns, viewTokens, meter, windowTokens } = known;
  const readsDefinitions = uses.some(({ strategy }) => strategy.readsAll === true);
  const usesSubsumption = uses.some(({ strategy }) => strategy.usesSubsumption === true);
  // Computed once, because planning uses the same pairs several times.
  const pairs = pairCalls(turns.values(), () => false);
  const found = usesSubsumption ? await findObsolete(known, pairs) : null;
  const gathered: StrategyFacts = {
    viewTokens,
    tokenFactor: meter.factor,
    windowTokens,
    pairs,
    ...(readsDefinitions ? await findTools(known) : {}),
    ...(found === null ? {} : { subsumed: found.pairs }),
  };
  return { known: gathered, problems: found?.problems ?? [] };
}

/** Finds the calls that a later one makes obsolete. A hidden call never makes a visible one obsolete. */
async function findObsolete(known: Facts, pairs: CallPairs): Promise<Subsumption> {
  const { workspace, hints, tree, live, turns } = known;
  const options = { hints, ...programPlace(workspace) };
  const all = listPairedCalls([...turns.values()], pairs);
  if (!live.applied.some(isHiding)) return findSubsumed(all, options);
  const isHidden = hiddenEvents({ turnCount: tree.turnOids.length, turns, compactions: live.applied });
  const shown = all.filter(({ turn, index }) => !isHidden(turn, index));
  const found = await findSubsumed(shown, options);
  // The reason for finding nothing is looked for as if nothing were hidden.
  return { ...found, pairs: new Map([...findContainedReads(all), ...found.pairs]) };
}

/** Lists the tools that the conversation defines and calls, with their tokens only if jpg itself, not the agent, sends them. */
async function findTools({
  workspace,
  tree,
  facts,
  before,
}: Facts): Promise<Pick<StrategyFacts, "definedTools" | "calledTools" | "toolTokens">> {
  const deltas = selectDeltas(await readDeltas(workspace, tree));
  const recorded = recordedTools(deltas) ?? [];
  const settings = deltas.map(({ delta }) => settingsOf(delta));
  const inTurns = facts.flatMap(({ defines = [] }) => defines);
  const tools = {
    definedTools: [...definedTools([...settings, { tools: recorded.map(({ name }) => name) }]), ...inTurns],
    calledTools: new Set(facts.flatMap((one) => one.tools)),
  };
  if (tree.header.source !== null && !wasAskedByJpg(before)) return tools;
  const definitions = await readToolDefinitions(workspace.store, tree, recorded);
  return { ...tools, toolTokens: new Map(definitions.map((tool) => [tool.name, estimateTool(tool)])) };
}

/** Returns the folder in which programs run: the project, else the store. */
function programPlace({ location, runtime }: Workspace): Pick<SubsumptionOptions, "cwd" | "env"> {
  return { cwd: location.project?.root ?? location.root, env: runtime.env };
}

function warnOfHints(config: Config, facts: readonly TurnFacts[]): readonly string[] {
  const called = new Set(facts.flatMap(({ tools }) => tools));
  return warnOfUnknownTools(Object.keys(config.conversation.tools), called);
}
