// A running agent's conversation, and the rules by which it is compacted: what the user set or asked for, and if the window is full,
// further ones while too much is left.
import type { CompactionConfig } from "../../config/config.ts";
import { type ChosenStrategies, choosePipelines } from "../../core/compact/strategies/pipelines.ts";
import { chooseStrategies } from "../../core/compact/strategies/strategy-list.ts";
import { PIPELINE_NAMES } from "../../core/compact/strategies/strategy-names.ts";
import { traitsOf, type View } from "../../core/conversation/event.ts";
import { estimateEvents } from "../../core/conversation/token-estimate.ts";
import type { LiveMarks } from "../../formats/live-mark.ts";
import type { RunningSession } from "../../formats/live-writer.ts";
import {
  type AutoRules,
  configuredRules,
  loopRules,
  type MeasuredView,
  measureView,
  tierRules,
} from "../compact/auto.ts";
import { type CompactRequest, compact } from "../compact/compact.ts";
import type { CountedView } from "../conversation/counted-view.ts";
import { loadConversationConfig } from "../conversation/marks.ts";
import { type BranchTree, loadTip } from "../conversation/tree.ts";
import { type Workspace, withoutOverrides } from "../conversation/workspace.ts";
import type { LiveRequest } from "./protocol.ts";

/** The session of a request, as the store has it now. */
export interface LiveConversation {
  readonly workspace: Workspace;
  readonly request: LiveRequest;
  readonly tree: BranchTree;
  /** Reads the session's file, once. */
  readonly readSession: () => Promise<MarkedSession>;
  /** Loads and counts a branch, once as long as it does not move. */
  readonly load: (tree: BranchTree) => Promise<CountedView>;
}

/** A session's file, and what it says of compactions that jpg made while its agent ran. */
export interface MarkedSession extends RunningSession {
  /** Null = its agent's sessions hold no marks. */
  readonly live: LiveMarks | null;
}

/** Loads the branch as it is now. */
export async function tipOf({ workspace, tree }: LiveConversation): Promise<BranchTree> {
  return (await loadTip(workspace.store, tree.branch)) ?? tree;
}

export type LiveRules = Pick<CompactRequest, "profile" | "strategies" | "range" | "summaryFrom" | "focus" | "intoLoop">;

/** The rules that are wanted; if the window is full, others that go on while too much is left. */
export async function rulesFor(
  { workspace, request, tree }: LiveConversation,
  measured: MeasuredView | null,
): Promise<readonly [LiveRules, ...LiveRules[]]> {
  const settings = await liveSettings(workspace, tree);
  const { wanted, focus } = readWish(request, settings);
  const sizes = sizesOf(measured, settings);
  const intoLoop = request.in_loop && request.trigger === "auto";
  const first = { ...(wanted ?? live(configuredRules(settings, sizes).request, request.trigger)), focus, intoLoop };
  if (request.trigger !== "auto" || measured === null) return [first];
  const last = tree.turnOids.length - 1;
  const summary = (keep?: number): LiveRules => ({
    strategies: { uses: chooseStrategies(["summarize"]), names: ["summarize"] },
    range: keep === undefined ? {} : { keep },
    focus,
  });
  return [
    first,
    live(tierRules(sizes).request, "auto"),
    ...(request.in_loop ? [live(loopRules(sizes, last).request, "auto")] : []),
    summary(),
    summary(1),
  ];
}

/**
 * The settings of automatic compaction; where the user set neither a profile nor a strategy for it, the strategy `auto`, which keeps
 * more at the same size than the built-in profile.
 */
async function liveSettings(workspace: Workspace, tree: BranchTree): Promise<CompactionConfig> {
  const { config, origins } = await loadConversationConfig(workspace, tree);
  const { compaction } = config.conversation;
  const isSet = (origins.get("conversation.compaction.auto.profile")?.layer ?? "built-in") !== "built-in";
  return isSet ? compaction : { ...compaction, auto: { ...compaction.auto, profile: undefined } };
}

/**
 * A profile or pipeline that the instructions begin with, and what a summary should focus on. The agent's own command is given a
 * focus in free words, so there a name counts only if it is all of them.
 */
function readWish(
  { instructions, trigger }: LiveConversation["request"],
  { profiles }: CompactionConfig,
): { readonly wanted: LiveRules | null; readonly focus: readonly string[] | undefined } {
  const text = (instructions ?? "").trim();
  const [word = ""] = text.split(/\s+/);
  const rest = text.slice(word.length).trim();
  const focusOn = (words: string): readonly string[] | undefined => (words === "" ? undefined : [words]);
  if (rest !== "" && trigger !== "asked") return { wanted: null, focus: [text] };
  if (Object.hasOwn(profiles, word)) return { wanted: { profile: word, range: {} }, focus: focusOn(rest) };
  const pipeline = PIPELINE_NAMES.find((name) => name === word);
  if (pipeline === undefined) return { wanted: null, focus: focusOn(text) };
  return { wanted: live({ strategies: choosePipelines([pipeline]), range: {} }, "asked"), focus: focusOn(rest) };
}

/** Without what a running agent would not do; whoever asks by name is given small gains, too. */
function live(rules: AutoRules["request"], trigger: LiveConversation["request"]["trigger"]): LiveRules {
  const { strategies } = rules;
  if (strategies === undefined) return rules;
  const uses = strategies.uses.filter(({ strategy }) => strategy.name !== PRUNING);
  const least: Partial<ChosenStrategies> = trigger === "asked" ? { minGainTokens: 1 } : {};
  return { ...rules, strategies: { ...strategies, ...least, uses } };
}

/** The agent sends its tools as long as it offers them. */
const PRUNING = "prune-tools";

function sizesOf(measured: MeasuredView | null, { auto }: CompactionConfig): Parameters<typeof configuredRules>[1] {
  return {
    windowTokens: measured?.windowTokens ?? Number.MAX_SAFE_INTEGER,
    openTokens: 0,
    uncounted: measured?.uncounted ?? 0,
    triggerRatio: auto.trigger_ratio,
    live: measured?.live ?? { applied: [] },
  };
}

/** Measures the view; null = the window is not known. */
export async function measureLive(
  { workspace, request, load }: LiveConversation,
  tree: BranchTree,
): Promise<MeasuredView | null> {
  const { config } = await loadConversationConfig(workspace, tree);
  return measureView(workspace, { tree, config }, { model: null, window: request.window ?? null, load });
}

/** A compaction that was planned and not made, in tokens. */
export interface CompactionPreview {
  readonly before: number;
  readonly after: number;
  /** The part of the new context before its first change: it stays in the provider's cache. */
  readonly kept: number;
}

/** Plans what a request to compact would do; null = nothing. */
export async function previewCompaction(conversation: LiveConversation): Promise<CompactionPreview | null> {
  const { workspace, tree, request } = conversation;
  const asked: LiveRequest = { ...request, instructions: null, trigger: "manual" };
  const [rules] = await rulesFor({ ...conversation, request: asked }, await measureLive(conversation, tree));
  const report = await compact(withoutOverrides(workspace), tree, { ...rules, dryRun: true, fork: false });
  const { compaction, tokens, cache, views } = report;
  if (compaction === null || views === undefined) return null;
  const after = report.further?.tokens.after ?? tokens.after;
  const kept = cache?.prefix_kept ?? 0;
  // An agent that takes whole messages gets no reasoning back, so its cache ends before the first of it.
  const limit = request.form === "messages" ? tokensBeforeReasoning(views.before) * views.measure.factor : kept;
  return { before: tokens.before, after, kept: Math.min(kept, report.overhead + limit, after) };
}

/** Estimated, in plain tokens. */
function tokensBeforeReasoning({ turns }: View): number {
  const events = turns.flatMap(({ events: own }) => own.filter((event) => traitsOf(event).providerVisible));
  const first = events.findIndex((event) => "reasoning" in event);
  return estimateEvents(first < 0 ? events : events.slice(0, first));
}
