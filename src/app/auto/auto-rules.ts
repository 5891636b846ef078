// By what automatic compaction compacts: the profile, pipeline or strategy of the settings, or tiers 1 and 2 in its place. Tiers
// go down to half of the window, pipelines leave the newest turns alone as profiles do.
import type { CompactionConfig } from "../../config/config.ts";
import {
  type ChosenStrategies,
  choosePipelines,
  PROTECT_TOKENS,
  TARGET_SHARE,
} from "../../core/compact/strategies/pipelines.ts";
import { PIPELINE_NAMES, type PipelineName, TANGENTS } from "../../core/compact/strategies/strategy-names.ts";
import { hasRoomBehind } from "../../core/compact/summary-answer.ts";
import { findProfile } from "../../core/conversation/policy.ts";
import { boundAt, type RangeBound } from "../../core/conversation/range-bound.ts";
import { userError } from "../../core/errors.ts";
import type { LiveCompactions } from "../branch/load-view.ts";
import type { CompactRequest } from "../compact/compact.ts";

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
  const request = { strategies, range: {}, summaryFrom: BEHIND_SUMMARIES };
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
  return hasRoomBehind(live.applied, triggerRatio * windowTokens) ? { from: BEHIND_SUMMARIES } : {};
}

/** What was only shortened since, a failed summary's turns among them, is still to be summarised. */
const BEHIND_SUMMARIES: RangeBound = { type: "last_summary" };

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
