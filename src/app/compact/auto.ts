// Compacts a conversation on its own when its view comes near the window of the model. Nothing that goes wrong here stops
// the conversation: a failing summary leaves its place to tiers 1 and 2, all other trouble is said as a warning.
import type { CompactionConfig, Config } from "../../config/config.ts";
import { type AutoPlace, decideAutoCompaction, isWarningSize, triggerRatio } from "../../core/compact/automatic.ts";
import {
  type ChosenStrategies,
  choosePipelines,
  PROTECT_TOKENS,
  TARGET_SHARE,
} from "../../core/compact/strategies/pipelines.ts";
import { PIPELINE_NAMES, type PipelineName, TANGENTS } from "../../core/compact/strategies/strategy-names.ts";
import { hasRoomBehind } from "../../core/compact/summary-answer.ts";
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

/** The turn that is being talked, as far as automatic compaction needs it. */
export interface OpenTurnPlace {
  /** 0-based. */
  readonly position: number;
  /** Those of its events that are not on the branch yet. */
  events(): readonly Event[];
  /** Commits it as far as it has come. */
  store(): Promise<void>;
}

/** Where a conversation stands when automatic compaction is considered. */
export interface AutoSituation extends Omit<NextRequest, "openEvents"> {
  readonly place: AutoPlace;
  /** In a loop: it counts, and where complete turns are not enough its answered calls are compacted, too. */
  readonly openTurn?: OpenTurnPlace;
  /** The model that this call talks to, which may write the summary; absent = none. */
  readonly answering?: string;
  readonly signal?: AbortSignal;
  /**
   * Asked for in this call, whatever the settings say of switching it on, and without a model. Told of each pass what share of the
   * context it took out, 0..1.
   */
  readonly guard?: (freed: number) => void;
  /** Told what was done, a line at a time. Like warnings it may hold words of the conversation: not safe for a terminal yet. */
  notice(text: string): void;
  warn(text: string): void;
}

/** Compacts the branch when its settings say so and its view is large enough. Null when nothing was done. Throws for bugs only. */
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
    return await consider(workspace, { tree, config, situation });
  } catch (error) {
    if (situation.signal?.aborted === true) return null;
    situation.warn(`not compacted automatically: ${describeTrouble(error)}`);
    return null;
  }
}

/** Commits the first turn of a conversation as far as it has come, where it alone is too large; null where it is not. */
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

/** A branch that is compacted automatically. */
interface Candidate {
  readonly tree: BranchTree;
  readonly config: Config;
  readonly situation: AutoSituation;
}

async function consider(workspace: Workspace, candidate: Candidate): Promise<CompactReport | null> {
  const { tree, config, situation } = candidate;
  const settings = config.conversation.compaction;
  const measured = await measure(workspace, candidate);
  if (measured === null) return null;
  const { tokens, windowTokens } = measured;
  const memory = readTip(workspace.store, tree.branch).auto ?? NOTHING;
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
  // Remembered before it is tried: what fails, or is killed half-way, waits for a new turn too.
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

/** How many turns of the branch are complete. */
function completeTurns({ tree, situation }: Candidate): number {
  const { length } = tree.turnOids;
  return Math.min(length, situation.openTurn?.position ?? length);
}

function measure(workspace: Workspace, candidate: Candidate): Promise<MeasuredView | null> {
  const { openTurn, ...next } = candidate.situation;
  return measureView(workspace, candidate, { ...next, openEvents: openTurn?.events() ?? [] });
}

/** Compacts complete turns by tiers, and where that is not enough the answered calls of the turn that goes on. */
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

/** How many turns there were at the newest try, by what is remembered and by the compactions, which clones bring along. */
function lastTry(remembered: number | null, { live, lastEvent }: MeasuredView, turns: number): number | null {
  const made = live.all.some(({ source, to_turn, to_event, stats }) => {
    // One made inside a turn that went on since says nothing of its end.
    const isCutShort = to_turn === turns - 1 && to_event !== undefined && to_event !== lastEvent;
    return source === "auto" && to_turn + 1 + (stats?.kept_turns ?? stats?.keep_recent ?? 0) === turns && !isCutShort;
  });
  return made ? turns : remembered;
}

/** Compacts by the first rules; by the second when the first need a summary and it fails. Null when nothing was gained. */
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
    // A summary may find nothing to stand for, or come out longer than what it replaces.
    if (report.compaction === null)
      return rules.needsSummary && instead !== undefined
        ? compactBy(workspace, candidate, { measured, rules: [instead] })
        : null;
    reportCompaction(report, { name: rules.name, measured }, situation);
    return report;
  } catch (error) {
    if (!rules.needsSummary || instead === undefined || signal?.aborted === true || isOfStore(error)) throw error;
    situation.warn(
      `${describeTrouble(error)} Tool outputs are shortened instead of writing the summary of ${rules.name}.`,
    );
    return compactBy(workspace, candidate, { measured, rules: [instead] });
  }
}

function isOfStore(error: unknown): boolean {
  return error instanceof JpgError && error.kind === "repository";
}

/** Compacts by the rules of the settings, for a guard by those of them that need no model. */
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

/** What went wrong, as a sentence. Throws what is a bug. */
function describeTrouble(error: unknown): string {
  if (error instanceof JpgError && error.kind !== "internal") return error.message;
  // The operating system's refusals, such as a full disk.
  if (error instanceof Error && "syscall" in error) return `${error.message}.`;
  throw error;
}

const NOTHING: AutoState = { triedAt: null, leftTokens: null, hasWarned: false };

/** A view measured against a window. Tokens, estimated. */
export interface MeasuredView {
  /** All that the model is sent next, the open turn included. */
  readonly tokens: number;
  /** What no compaction reaches of it: system prompt and tools. */
  readonly overhead: number;
  /** The open turn alone. */
  readonly openTokens: number;
  /** What planning counts of the view beyond `tokens`, or short of it where negative: what its agent sends in front of it. */
  readonly uncounted: number;
  readonly windowTokens: number;
  /** The model that the window is of. */
  readonly model: string;
  readonly live: LiveCompactions;
  /** Id of the last event of the branch's newest turn. */
  readonly lastEvent: string | undefined;
}

/** What is known of the next request. */
export interface NextRequest {
  /** Null = to the model that answered last. */
  readonly model: string | null;
  /** Null = unknown; looked up where no model is given. */
  readonly window: number | null;
  /** Whether the user set it: then nothing that the session says of a larger one counts. */
  readonly isWindowSet?: boolean;
  readonly openEvents?: readonly Event[];
  /** Tools that jpg offers in it; absent = the conversation's agent sends it, not jpg. */
  readonly tools?: readonly ToolDefinition[];
  /** Loads the view, where the caller asks again and again of a branch that stands still; absent = from the store. */
  readonly load?: (tree: BranchTree) => Promise<CountedView>;
}

/** Measures the view of a branch; null when the window is unknown. */
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

/** The model that is asked next, with the window that the caller knows; null = both are looked up. */
function namedModel({ model, window, isWindowSet }: NextRequest, turns: Iterable<Turn>): NextModel | null {
  if (model === null && window === null) return null;
  const name = model ?? conversationModel(turns);
  const set = isWindowSet === true && window !== null ? { setWindow: window } : {};
  return name === null ? null : { name, facts: { contextWindow: window, ...set } };
}

// By what automatic compaction compacts: the profile, pipeline or strategy of the settings, or tiers 1 and 2 in its place. Tiers
// go down to half of the window, pipelines leave the newest turns alone as profiles do.

/** How one automatic compaction is made. */
export interface AutoRules {
  /** For people, e.g. `profile default`. */
  readonly name: string;
  /** What is asked of `compact`, with where it begins: tiers may take more of what they have shortened before. */
  readonly request: Pick<CompactRequest, "profile" | "strategies" | "range" | "summaryFrom">;
  /** Whether a model may be asked for a summary, without which nothing is compacted. */
  readonly needsSummary: boolean;
}

/** What rules need to know of sizes. Tokens. */
export interface AutoSizes {
  readonly windowTokens: number;
  /** Tokens of the open turn, which are not in the view that is compacted. */
  readonly openTokens: number;
  /** Tokens that planning counts of the view beyond what is sent. */
  readonly uncounted: number;
  /** Share of the window above which it compacts, 0..1. */
  readonly triggerRatio: number;
  /** The compactions of the branch. */
  readonly live: Pick<LiveCompactions, "applied">;
}

/** The pipeline that the settings name in place of a profile; null when they name a profile or a single strategy. */
export function pipelineOf({ auto: { profile }, strategy, profiles }: CompactionConfig): PipelineName | null {
  if (profile !== undefined && Object.hasOwn(profiles, profile)) return null;
  return PIPELINE_NAMES.find((name) => name === (profile ?? strategy)) ?? null;
}

/** The rules of the settings. Throws `unknown_profile`, and `needs_person` for a strategy that asks somebody. */
export function configuredRules(settings: CompactionConfig, sizes: AutoSizes): AutoRules {
  const { profile } = settings.auto;
  const pipeline = pipelineOf(settings);
  if (pipeline !== null) return pipelineRules(pipeline, settings, sizes);
  if (profile === undefined) return strategyRules(settings.strategy, sizes);
  const needsSummary = findProfile(profile, settings.profiles).summary !== undefined;
  const range = needsSummary ? summaryRange(sizes) : { from: { type: "last" } as const };
  return { name: `profile ${profile}`, request: { profile, range }, needsSummary };
}

/** The same without a model: where the settings want one, tiers 1 and 2. */
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

/** Behind the summaries that there are; over all turns where these have filled too much of what it compacts at. */
function summaryRange({ live, triggerRatio, windowTokens }: AutoSizes): AutoRules["request"]["range"] {
  return hasRoomBehind(live.applied, triggerRatio * windowTokens) ? { from: AFTER_SUMMARIES } : {};
}

/** What was only shortened since, a failed summary's turns among them, is still to be summarised. */
const AFTER_SUMMARIES: RangeBound = { type: "last_summary" };

/** Tiers 1 and 2: large outputs are truncated, then stripped, while the view is too large; no model is asked. */
export function tierRules(sizes: AutoSizes): AutoRules {
  const { summarizeAbove: _, ...strategies } = withoutProtection(choosePipelines(["tiered"], {}, targetOf(sizes)));
  return { name: "tiers 1 and 2", request: { strategies, range: {} }, needsSummary: false };
}

/**
 * The same over the answered calls of a turn that goes on, `turn` being its position: its range is named, so that it reaches
 * into the loop, and ends before what the model is at work on.
 */
export function loopRules(sizes: AutoSizes, turn: number): AutoRules {
  const { name, request, needsSummary } = tierRules(sizes);
  const protectTokens = Math.min(PROTECT_TOKENS, Math.round(PROTECT_SHARE * sizes.windowTokens));
  const range = { from: boundAt(turn), keep: 0, protectTokens };
  return { name, request: { ...request, range }, needsSummary };
}

/** Share of the window that is left alone at most, in place of the newest 10,000 tokens: they may be all of a small one. */
const PROTECT_SHARE = 0.1;

/** A trigger below half of the window is the target itself: else tiers would find nothing to do. */
function targetOf({ windowTokens, openTokens, uncounted, triggerRatio }: AutoSizes): { readonly tokens: number } {
  const share = Math.min(TARGET_SHARE, triggerRatio);
  return { tokens: Math.max(0, Math.round(share * windowTokens) - openTokens + uncounted) };
}

/** The range ends by turns (`keep_last`), so that a pipeline leaves alone what a profile does. */
function withoutProtection({ protectTokens: _, ...strategies }: ChosenStrategies): ChosenStrategies {
  return strategies;
}

/** What comes of a context that is large, but not compacted. */
export function nextStep(
  turns: number,
  ratio: number,
  { min_turns: most }: Config["conversation"]["compaction"]["auto"],
): string {
  return turns > most
    ? `above ${Math.round(ratio * 100)} % it is compacted`
    : `conversations of up to ${most} turns are left alone`;
}

/** Completes what is said of a context of which no pass took anything out. */
export const NOTHING_MORE =
  "and nothing more can be taken out automatically: `jpg compact --keep 0` also compacts the newest turns, `jpg compact --profile heavy` replaces turns with a summary, `jpg query --fork=3` continues with only the last 3 turns";

/** Says what was done, in sizes of what is sent next: with the open turn, and with jpg's own system prompt where jpg sends it. */
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

/** What share of the context a pass took out, 0..1. */
export function freedShare(report: CompactReport): number {
  const { before, after } = overallTokens(report);
  return before === 0 ? 0 : 1 - after / before;
}

/** Says how large a context is. */
export function describeSize({ tokens, windowTokens, model }: MeasuredView): string {
  return `the context has ${formatTokens(tokens)} tokens, ${Math.round((tokens / windowTokens) * 100)} % of the window of ${model}`;
}
