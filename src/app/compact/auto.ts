// Compacts a conversation automatically when its view comes near the model's window. No failure here stops the conversation: if a
// summary fails, tiers 1 and 2 are used instead; other trouble becomes a warning.
import type { CompactionConfig, Config } from "../../config/config.ts";
import { type AutoPlace, decideAutoCompaction, isWarningSize, triggerRatio } from "../../core/compact/automatic.ts";
import {
  type ChosenStrategies,
  choosePipelines,
  PROTECT_TOKENS,
  TARGET_SHARE,
} from "../../core/compact/strategies/pipelines.ts";
import { PIPELINE_NAMES, type PipelineName, TANGENTS } from "../../core/compact/strategies/strategy-names.ts";
import { hasRoomForSummary } from "../../core/compact/summary-answer.ts";
import type { ToolDefinition } from "../../core/conversation/defined-tools.ts";
import type { Event, Turn } from "../../core/conversation/event.ts";
import { findProfile } from "../../core/conversation/policy.ts";
import { boundAt, type RangeBound } from "../../core/conversation/range-bound.ts";
import { estimateEvents, formatTokens, renderCompacted } from "../../core/conversation/token-estimate.ts";
import { JpgError, userError } from "../../core/errors.ts";
import { sizeToSend } from "../../core/model/token-meter.ts";
import { type CountedView, loadCounted } from "../conversation/counted-view.ts";
import { loadConversationConfig } from "../conversation/marks.ts";
import { type AutoState, readTip, updateTip } from "../conversation/tip-cache.ts";
import { type BranchTree, loadBranchTree, loadTip } from "../conversation/tree.ts";
import type { LiveCompactions } from "../conversation/view.ts";
import { type Workspace, withoutOverrides } from "../conversation/workspace.ts";
import { conversationModel, type NextModel, viewWindow } from "../models/models.ts";
import { type CompactRequest, compact } from "./compact.ts";
import { type CompactReport, overallTokens } from "./compact-report.ts";

/** The open turn, as far as automatic compaction needs it. */
export interface OpenTurnPlace {
  /** 0-based. */
  readonly position: number;
  /** Its events that are not on the branch yet. */
  events(): readonly Event[];
  /** Commits what there is of it. */
  store(): Promise<void>;
}

/** The state of a conversation when automatic compaction is considered. */
export interface AutoSituation extends Omit<NextRequest, "openEvents"> {
  readonly place: AutoPlace;
  /** The turn in progress in a loop: it counts, and if complete turns are not enough its answered calls are compacted, too. */
  readonly openTurn?: OpenTurnPlace;
  /** The model in use, which may write the summary; absent = none. */
  readonly answering?: string;
  readonly signal?: AbortSignal;
  /**
   * Compact even if the settings switch it off, and without a model. Receives after each pass the share of the context that was
   * freed, 0..1.
   */
  readonly guard?: (freed: number) => void;
  /** Receives what was done, a line at a time. Like warnings, it may quote the conversation: not yet safe for a terminal. */
  notice(text: string): void;
  warn(text: string): void;
}

/** Compacts the branch if its settings say so and its view is large enough. Null when nothing was done. Throws only for bugs. */
export async function autoCompact(
  workspace: Workspace,
  branch: string,
  situation: AutoSituation,
): Promise<CompactReport | null> {
  try {
    const tip = (await workspace.store.readBranch(branch)) ?? (await storeFirstTurn(workspace, branch, situation));
    if (tip === null || situation.signal?.aborted === true) return null;
    const tree = await loadBranchTree(workspace.store, branch, tip);
    const { config } = await loadConversationConfig(workspace, tree);
    if (!config.conversation.compaction.auto.enabled && situation.guard === undefined) return null;
    return await compactIfNeeded(workspace, { tree, config, situation });
  } catch (error) {
    if (situation.signal?.aborted === true) return null;
    situation.warn(`not compacted automatically: ${describeTrouble(error)}`);
    return null;
  }
}

/** Commits what there is of a conversation's first turn if that alone is too large; null if it is not. */
async function storeFirstTurn(
  workspace: Workspace,
  branch: string,
  { openTurn, window }: AutoSituation,
): Promise<string | null> {
  if (openTurn === undefined || window === null) return null;
  const { auto } = (await workspace.config()).config.conversation.compaction;
  const limit = window * triggerRatio({ settings: auto, place: "in_loop", isTiered: false });
  if (!auto.enabled || estimateEvents(openTurn.events()) < limit) return null;
  await openTurn.store();
  return workspace.store.readBranch(branch);
}

interface Candidate {
  readonly tree: BranchTree;
  readonly config: Config;
  readonly situation: AutoSituation;
}

async function compactIfNeeded(workspace: Workspace, candidate: Candidate): Promise<CompactReport | null> {
  const { tree, config, situation } = candidate;
  const settings = config.conversation.compaction;
  const measured = await measure(workspace, candidate);
  if (measured === null) return null;
  const { tokens, windowTokens } = measured;
  const memory = readTip(workspace.store, tree.branch).auto ?? NEVER_TRIED;
  const turns = completeTurns(candidate);
  const facts = {
    settings: { ...settings.auto, enabled: true },
    place: situation.place,
    isTiered: pipelineOf(settings) === "tiered",
    tokens,
    windowTokens,
    turns,
    triedAt: lastTry(memory.triedAt, measured, turns),
    leftTokens: memory.triedAt === turns ? memory.leftTokens : null,
    hasWarned: memory.hasWarned,
  };
  const decision = decideAutoCompaction(facts);
  const hasWarned = isWarningSize(tokens, windowTokens, settings.auto);
  // Stored before the try, so that a failed or killed one is not repeated before there is a new turn.
  const tried = decision?.type === "compact" ? { triedAt: turns, leftTokens: tokens } : memory;
  const remember = (changes: Partial<AutoState> = {}): Promise<void> =>
    updateTip(workspace.store, tree.branch, { auto: { ...tried, hasWarned, ...changes } });
  if (tried !== memory || hasWarned !== memory.hasWarned) await remember();
  if (decision === null) return null;
  const ratio = triggerRatio(facts);
  if (decision.type === "warn") {
    situation.warn(`${describeSize(measured)}; ${nextStep(turns, ratio, settings.auto)}`);
    return null;
  }
  const sizes = { ...measured, triggerRatio: ratio };
  if (decision.by === "profile") {
    const report = await compactBetweenTurns(workspace, candidate, sizes);
    if (report === null && hasWarned) situation.warn(`${describeSize(measured)}, ${NOTHING_MORE}`);
    return report;
  }
  const { report, left } = await compactLoop(workspace, candidate, { sizes, turns });
  await remember({ leftTokens: left.tokens });
  if (report === null) situation.warn(`${describeSize(measured)}, ${NOTHING_MORE}`);
  return report;
}

/** Counts the complete turns of the branch. */
function completeTurns({ tree, situation }: Candidate): number {
  const { length } = tree.turnOids;
  return Math.min(length, situation.openTurn?.position ?? length);
}

function measure(workspace: Workspace, candidate: Candidate): Promise<MeasuredView | null> {
  const { openTurn, ...next } = candidate.situation;
  return measureView(workspace, candidate, { ...next, openEvents: openTurn?.events() ?? [] });
}

/** Compacts complete turns by tiers; if that is not enough, the answered calls of the open turn. */
async function compactLoop(
  workspace: Workspace,
  candidate: Candidate,
  { sizes, turns }: { readonly sizes: MeasuredView & AutoSizes; readonly turns: number },
): Promise<{ readonly report: CompactReport | null; readonly left: MeasuredView }> {
  const { config, situation } = candidate;
  const isLong = turns > config.conversation.compaction.auto.min_turns;
  const report = isLong ? await compactBy(workspace, candidate, { measured: sizes, rules: [tierRules(sizes)] }) : null;
  const again = async (): Promise<{ readonly at: Candidate; readonly left: MeasuredView }> => {
    const tree = (await loadTip(workspace.store, candidate.tree.branch)) ?? candidate.tree;
    const at = { ...candidate, tree };
    return { at, left: (await measure(workspace, at)) ?? sizes };
  };
  const first = await again();
  const isSmall = first.left.tokens < sizes.triggerRatio * sizes.windowTokens;
  if (isSmall || situation.openTurn === undefined) return { report, left: first.left };
  await situation.openTurn.store();
  const { at, left } = await again();
  const rules = loopRules({ ...left, triggerRatio: sizes.triggerRatio }, situation.openTurn.position);
  const second = await compactBy(workspace, at, { measured: left, rules: [rules] });
  if (second === null) return { report, left };
  return { report: report === null ? second : { ...report, further: second }, left: (await again()).left };
}

/** Returns how many turns there were at the newest try, by the stored state or by the compactions, which clones also have. */
function lastTry(remembered: number | null, { live, lastEvent }: MeasuredView, turns: number): number | null {
  const made = live.all.some(({ source, to_turn, to_event, stats }) => {
    // A compaction inside a turn that has continued since does not count for its end.
    const isCutShort = to_turn === turns - 1 && to_event !== undefined && to_event !== lastEvent;
    return source === "auto" && to_turn + 1 + (stats?.kept_turns ?? stats?.keep_recent ?? 0) === turns && !isCutShort;
  });
  return made ? turns : remembered;
}

/** Compacts by the first rules; by the second if the first need a summary and it fails. Null when nothing was gained. */
async function compactBy(
  workspace: Workspace,
  candidate: Candidate,
  {
    measured,
    rules: [rules, instead],
  }: { readonly measured: MeasuredView; readonly rules: readonly [AutoRules, AutoRules?] },
): Promise<CompactReport | null> {
  const { tree, situation } = candidate;
  const { signal, tools, answering } = situation;
  try {
    const report = await compact(withoutOverrides(workspace), tree, {
      ...rules.request,
      source: "auto",
      dryRun: false,
      fork: false,
      activate: false,
      answering,
      signal,
      tools,
    });
    for (const warning of report.warnings) situation.warn(warning);
    // There may be nothing to summarise, or the summary may be longer than what it replaces.
    if (report.compaction === null)
      return rules.needsSummary && instead !== undefined
        ? compactBy(workspace, candidate, { measured, rules: [instead] })
        : null;
    reportCompaction(report, { name: rules.name, measured }, situation);
    return report;
  } catch (error) {
    if (!rules.needsSummary || instead === undefined || signal?.aborted === true || isRepositoryError(error))
      throw error;
    situation.warn(
      `${describeTrouble(error)} Tool outputs are shortened instead of writing the summary of ${rules.name}.`,
    );
    return compactBy(workspace, candidate, { measured, rules: [instead] });
  }
}

function isRepositoryError(error: unknown): boolean {
  return error instanceof JpgError && error.kind === "repository";
}

/** Compacts by the rules of the settings; for a guard only by those that need no model. */
async function compactBetweenTurns(
  workspace: Workspace,
  candidate: Candidate,
  sizes: MeasuredView & AutoSizes,
): Promise<CompactReport | null> {
  const { guard } = candidate.situation;
  const settings = candidate.config.conversation.compaction;
  const rules = (guard === undefined ? configuredRules : mechanicalRules)(settings, sizes);
  const report = await compactBy(workspace, candidate, { measured: sizes, rules: [rules, tierRules(sizes)] });
  guard?.(report === null ? 0 : freedShare(report));
  return report;
}

/** Describes an error in a sentence. Rethrows bugs. */
function describeTrouble(error: unknown): string {
  if (error instanceof JpgError && error.kind !== "internal") return error.message;
  // An error of the operating system, such as a full disk.
  if (error instanceof Error && "syscall" in error) return `${error.message}.`;
  throw error;
}

const NEVER_TRIED: AutoState = { triedAt: null, leftTokens: null, hasWarned: false };

/** A view measured against a window. In tokens, estimated. */
export interface MeasuredView {
  /** Size of the next request, the open turn included. */
  readonly tokens: number;
  /** System prompt and tools, which no compaction shortens. */
  readonly overhead: number;
  readonly openTokens: number;
  /** What planning counts beyond `tokens` (below 0: short of it): what the agent sends in front of the view. */
  readonly uncounted: number;
  readonly windowTokens: number;
  /** The model with that window. */
  readonly model: string;
  readonly live: LiveCompactions;
  /** Id of the last event of the branch's newest turn. */
  readonly lastEvent: string | undefined;
}

/** Facts of the next request. */
export interface NextRequest {
  /** Null = the model that answered last. */
  readonly model: string | null;
  /** Null = unknown; looked up if there is no model. */
  readonly window: number | null;
  /** Whether the user set it, so that a larger one in the session is ignored. */
  readonly isWindowSet?: boolean;
  readonly openEvents?: readonly Event[];
  /** Tools that jpg offers in it; absent = the agent sends it, not jpg. */
  readonly tools?: readonly ToolDefinition[];
  /** Loads the view, for callers that measure an unmoved branch repeatedly; absent = from the store. */
  readonly load?: (tree: BranchTree) => Promise<CountedView>;
}

/** Measures the view of a branch against its model's window; null when that is unknown. */
export async function measureView(
  workspace: Workspace,
  { tree, config }: { readonly tree: BranchTree; readonly config: Config },
  next: NextRequest,
): Promise<MeasuredView | null> {
  const load = next.load ?? ((at: BranchTree) => loadCounted(workspace.store, at));
  const { view, live, turns, meter } = await load(tree);
  const window = await viewWindow(workspace, config, { turns, meter, next: namedModel(next, turns.values()) });
  if (window === null || window.tokens === null) return null;
  const openTokens = meter.countEvents(next.openEvents ?? []);
  const frame = next.tools === undefined ? null : { system: config.conversation.system_prompt, tools: next.tools };
  const sent = sizeToSend(meter, { view, compactions: live.applied }, frame);
  const lastEvent = turns.get(tree.turnOids.length - 1)?.events.at(-1)?.id;
  return {
    tokens: sent.tokens + openTokens,
    overhead: sent.overhead,
    openTokens,
    uncounted: meter.overheadUnder(live.applied) - sent.overhead,
    windowTokens: window.tokens,
    model: window.model,
    live,
    lastEvent,
  };
}

/** Returns the model of the next request, with the caller's window; null = look up both. */
function namedModel({ model, window, isWindowSet }: NextRequest, turns: Iterable<Turn>): NextModel | null {
  if (model === null && window === null) return null;
  const name = model ?? conversationModel(turns);
  const set = isWindowSet === true && window !== null ? { setWindow: window } : {};
  return name === null ? null : { name, facts: { contextWindow: window, ...set } };
}

// Chooses the rules of automatic compaction: the profile, pipeline or strategy of the settings, or tiers 1 and 2 instead. Tiers
// shrink the view to half of the window; pipelines protect the newest turns as profiles do.

export interface AutoRules {
  /** For people, e.g. `profile default`. */
  readonly name: string;
  /** The request to `compact`; its range may include what tiers have shortened before. */
  readonly request: Pick<CompactRequest, "profile" | "strategies" | "range" | "summaryFrom">;
  /** Whether it only works with a summary, for which a model may be asked. */
  readonly needsSummary: boolean;
}

/** Sizes that rules need, in tokens. */
export interface AutoSizes {
  readonly windowTokens: number;
  /** The open turn, which is not in the compacted view. */
  readonly openTokens: number;
  /** What planning counts beyond what is sent. */
  readonly uncounted: number;
  /** Share of the window above which to compact, 0..1. */
  readonly triggerRatio: number;
  /** The compactions of the branch. */
  readonly live: Pick<LiveCompactions, "applied">;
}

/** The pipeline that the settings name in place of a profile; null when they name a profile or a single strategy. */
export function pipelineOf({ auto: { profile }, strategy, profiles }: CompactionConfig): PipelineName | null {
  if (profile !== undefined && Object.hasOwn(profiles, profile)) return null;
  return PIPELINE_NAMES.find((name) => name === (profile ?? strategy)) ?? null;
}

/** Returns the rules of the settings. Throws `unknown_profile`, and `needs_person` for a strategy that asks a person. */
export function configuredRules(settings: CompactionConfig, sizes: AutoSizes): AutoRules {
  const { profile } = settings.auto;
  const pipeline = pipelineOf(settings);
  if (pipeline !== null) return pipelineRules(pipeline, settings, sizes);
  if (profile === undefined) return strategyRules(settings.strategy, sizes);
  const needsSummary = findProfile(profile, settings.profiles).summary !== undefined;
  const range = needsSummary ? summaryRange(sizes) : { from: { type: "last" } as const };
  return { name: `profile ${profile}`, request: { profile, range }, needsSummary };
}

/** Like `configuredRules`, without a model: tiers 1 and 2 if the settings want a summary. */
export function mechanicalRules(settings: CompactionConfig, sizes: AutoSizes): AutoRules {
  if (pipelineOf(settings) !== null) return tierRules(sizes);
  const rules = configuredRules(settings, sizes);
  return rules.needsSummary ? tierRules(sizes) : rules;
}

function pipelineRules(
  pipeline: PipelineName,
  { summarize_threshold: threshold }: CompactionConfig,
  sizes: AutoSizes,
): AutoRules {
  const chosen = withoutProtection(choosePipelines([pipeline], {}, targetOf(sizes)));
  const above = { tokens: Math.round(threshold * sizes.windowTokens) + sizes.uncounted };
  const strategies = chosen.summarizeAbove === "threshold" ? { ...chosen, summarizeAbove: above } : chosen;
  const request = { strategies, range: {}, summaryFrom: AFTER_SUMMARIES };
  return { name: `pipeline ${pipeline}`, request, needsSummary: false };
}

function strategyRules(strategy: string, sizes: AutoSizes): AutoRules {
  if (strategy === TANGENTS)
    throw userError(
      "needs_person",
      `The strategy ${TANGENTS} asks a person, but nobody can be asked here; set auto.profile.`,
    );
  const strategies = withoutProtection(choosePipelines([strategy]));
  const needsSummary = strategies.uses.some((use) => use.strategy.summarizes === true);
  const range = needsSummary ? summaryRange(sizes) : {};
  return { name: `strategy ${strategy}`, request: { strategies, range }, needsSummary };
}

/** The range after existing summaries; all turns if those summaries fill too much of the window. */
function summaryRange({ live, triggerRatio, windowTokens }: AutoSizes): AutoRules["request"]["range"] {
  return hasRoomForSummary(live.applied, triggerRatio * windowTokens) ? { from: AFTER_SUMMARIES } : {};
}

/** Turns after the last summary that were only shortened are still to be summarised. */
const AFTER_SUMMARIES: RangeBound = { type: "last_summary" };

/** Rules of tiers 1 and 2: truncate large outputs, then strip them, while the view is too large. They ask no model. */
export function tierRules(sizes: AutoSizes): AutoRules {
  const { summarizeAbove: _, ...strategies } = withoutProtection(choosePipelines(["tiered"], {}, targetOf(sizes)));
  return { name: "tiers 1 and 2", request: { strategies, range: {} }, needsSummary: false };
}

/**
 * Like `tierRules`, over the answered calls of the open turn at position `turn`. Its range is explicit, so that it reaches into the
 * loop, and ends before the model's current work.
 */
export function loopRules(sizes: AutoSizes, turn: number): AutoRules {
  const { name, request, needsSummary } = tierRules(sizes);
  const protectTokens = Math.min(PROTECT_TOKENS, Math.round(PROTECT_SHARE * sizes.windowTokens));
  const range = { from: boundAt(turn), keep: 0, protectTokens };
  return { name, request: { ...request, range }, needsSummary };
}

/** Largest share of the window that is protected: the newest 10,000 tokens may be all of a small window. */
const PROTECT_SHARE = 0.1;

/** The target size. A trigger below half of the window is itself the target, else tiers would do nothing. */
function targetOf({ windowTokens, openTokens, uncounted, triggerRatio }: AutoSizes): { readonly tokens: number } {
  const share = Math.min(TARGET_SHARE, triggerRatio);
  return { tokens: Math.max(0, Math.round(share * windowTokens) - openTokens + uncounted) };
}

/** Drops token protection: the range ends by turns (`keep_last`), so that pipelines protect what profiles do. */
function withoutProtection({ protectTokens: _, ...strategies }: ChosenStrategies): ChosenStrategies {
  return strategies;
}

/** Says what will happen to a large context that is not compacted now. */
export function nextStep(
  turns: number,
  ratio: number,
  { min_turns: most }: Config["conversation"]["compaction"]["auto"],
): string {
  return turns > most
    ? `above ${Math.round(ratio * 100)} % it is compacted`
    : `conversations of up to ${most} turns are left alone`;
}

/** Ends the warning about a context from which no pass could remove anything. */
export const NOTHING_MORE =
  "and nothing more can be removed automatically: `jpg compact --keep 0` also compacts the newest turns, `jpg compact --profile heavy` replaces turns with a summary, `jpg query --fork=3` continues with only the last 3 turns";

/** Reports what was done. Sizes are those of the next request, with the open turn, and with jpg's system prompt if jpg sends it. */
export function reportCompaction(
  report: CompactReport,
  { name, measured }: { readonly name: AutoRules["name"]; readonly measured: MeasuredView },
  to: { notice(text: string): void },
): void {
  const { before, after } = overallTokens(report);
  const openAndPrompt = measured.openTokens - measured.uncounted;
  to.notice(renderCompacted({ before: before + openAndPrompt, after: after + openAndPrompt }));
  for (const { compaction, from_turn, to_turn, policies } of [report, ...(report.further ? [report.further] : [])])
    to.notice(`turns ${from_turn}..${to_turn} by ${name}: ${policies}; \`jpg revert ${compaction?.id}\` undoes it`);
}

/** Returns the share of the context that a pass freed, 0..1. */
export function freedShare(report: CompactReport): number {
  const { before, after } = overallTokens(report);
  return before === 0 ? 0 : 1 - after / before;
}

/** Describes the size of a context. */
export function describeSize({ tokens, windowTokens, model }: MeasuredView): string {
  return `the context has ${formatTokens(tokens)} tokens, ${Math.round((tokens / windowTokens) * 100)} % of the window of ${model}`;
}
