// When jpg compacts on its own: decided from the size of the view, the model's window and the settings. Pure. More tokens never lead to
// less being done, and nothing is tried twice unless there is a new turn or the open one has grown again.
import { TARGET_SHARE } from "./strategies/pipelines.ts";

/** When in a conversation the question is asked. */
export type AutoPlace =
  /** A turn is complete, the next one has not begun. */
  | "between_turns"
  /** The model works on a turn, between two of its calls. */
  | "in_loop";

interface AutoSettings {
  readonly enabled: boolean;
  /** Share of the window above which it compacts, 0..1. */
  readonly trigger_ratio: number;
  /** Share of the window from which it warns, 0..1. */
  readonly warning_ratio: number;
  /** With no more complete turns than this nothing is compacted; >= 0. */
  readonly min_turns: number;
}

export interface AutoFacts {
  readonly settings: AutoSettings;
  readonly place: AutoPlace;
  /** Whether the pipeline `tiered` is used instead of a profile. */
  readonly isTiered: boolean;
  /** What the model is sent next, estimated tokens, including a turn that is still open. */
  readonly tokens: number;
  /** Context window of the model, tokens; null = unknown. */
  readonly windowTokens: number | null;
  /** Complete turns. */
  readonly turns: number;
  /** Complete turns when it last compacted or tried to; null = never, or forgotten. */
  readonly triedAt: number | null;
  /** Size after that try, tokens as above; null = unknown. */
  readonly leftTokens?: number | null;
  /** Whether it has warned since the size was last below the warning. */
  readonly hasWarned: boolean;
}

/**
 * What to do; null = nothing. `compact`: `by` the profile or pipeline of the settings, or, while a turn is open, by tiers 1 and 2 over the
 * complete turns, then over the answered calls of the open one.
 */
type AutoDecision = { readonly type: "compact"; readonly by: "profile" | "tiers" } | { readonly type: "warn" };

/** Share of the window above which it compacts unless another is set (D17). */
export const TRIGGER_RATIO = 0.75;
/** The same share for the pipeline `tiered`, and the minimum inside a tool loop (Compaction v2). */
const TIERED_RATIO = 0.8;

export function decideAutoCompaction(facts: AutoFacts): AutoDecision | null {
  const { settings, place, tokens, windowTokens, turns, triedAt, hasWarned } = facts;
  if (!settings.enabled || windowTokens === null) return null;
  const isNew = triedAt === null || turns > triedAt || hasGrownAgain(facts, windowTokens);
  // A few turns are left alone, but not one that is about to overflow.
  const isLong = turns > settings.min_turns || place === "in_loop";
  if (isNew && isLong && isOverTrigger(facts, windowTokens))
    return { type: "compact", by: place === "in_loop" ? "tiers" : "profile" };
  return !hasWarned && isWarningSize(tokens, windowTokens, settings) ? { type: "warn" } : null;
}

/** Share of the window by which a turn must grow between two tries inside it: each try rewrites the prompt cache. */
const REGROWTH_RATIO = 0.05;

function hasGrownAgain({ place, tokens, leftTokens = null }: AutoFacts, windowTokens: number): boolean {
  return place === "in_loop" && leftTokens !== null && tokens >= leftTokens + REGROWTH_RATIO * windowTokens;
}

export function isWarningSize(
  tokens: number,
  windowTokens: number,
  { warning_ratio }: Pick<AutoSettings, "warning_ratio">,
): boolean {
  return tokens >= windowTokens * warning_ratio && tokens > 0;
}

/** The share of the window above which it compacts, 0..1. */
export function triggerRatio({
  settings,
  place,
  isTiered,
}: Pick<AutoFacts, "settings" | "place" | "isTiered">): number {
  const between = isTiered && settings.trigger_ratio === TRIGGER_RATIO ? TIERED_RATIO : settings.trigger_ratio;
  return place === "in_loop" ? Math.max(TIERED_RATIO, between) : between;
}

/** Inside a loop the limit itself is too much: the next call would exceed it. */
function isOverTrigger(facts: AutoFacts, windowTokens: number): boolean {
  const limit = windowTokens * triggerRatio(facts);
  return facts.place === "in_loop" ? facts.tokens >= limit : facts.tokens > limit;
}

// Whether a chat offers to compact. Pure: decided from earlier offers and the conversation now. Asked between the user's message and the
// model's answer, so never while tools run.

/** Messages of the view from which compacting is offered. */
const OFFERED_FROM = 50;
/** Further messages before it is offered again. */
const AGAIN_AFTER = 10;
/** Messages after a compaction during which it is not offered. */
const QUIET_AFTER_COMPACTION = 20;

/** What one run of a chat remembers of its offers; never stored. */
export interface CompactOffers {
  /** The user chose never to be asked again. */
  readonly disabled: boolean;
  /** Messages of the view at the last offer; null = none since the view was compacted. */
  readonly offeredAt: number | null;
}

/** The conversation, including the user's new message. */
interface OfferFacts {
  readonly messages: number;
  /** Messages since the newest compaction in force; null = there is none. */
  readonly sinceCompaction: number | null;
}

export const NO_OFFERS: CompactOffers = { disabled: false, offeredAt: null };

export function offersCompaction({ disabled, offeredAt }: CompactOffers, facts: OfferFacts): boolean {
  if (disabled || facts.messages < OFFERED_FROM) return false;
  if (facts.sinceCompaction !== null && facts.sinceCompaction < QUIET_AFTER_COMPACTION) return false;
  return offeredAt === null || facts.messages >= offeredAt + AGAIN_AFTER;
}

/** Smaller conversations are never compacted for a model: they would lose more than they gain. Tokens, estimated. */
export const LEAST_AGENT_TOKENS = 10_000;

/** The answer to an agent's request to compact; `target` = the size to reach, tokens. */
export type AgentVerdict =
  | { readonly type: "too_small" }
  | { readonly type: "not_needed"; readonly target: number }
  | { readonly type: "compact"; readonly target: number };

/** A view and its window. Tokens, estimated; `overhead` is the part that no compaction reaches. */
interface JudgedView {
  readonly tokens: number;
  readonly overhead: number;
  readonly windowTokens: number;
}

export function judgeAgentCompaction({ tokens, overhead, windowTokens }: JudgedView): AgentVerdict {
  if (tokens - overhead < LEAST_AGENT_TOKENS) return { type: "too_small" };
  const target = Math.round(windowTokens * TARGET_SHARE);
  return { type: tokens <= target ? "not_needed" : "compact", target };
}
