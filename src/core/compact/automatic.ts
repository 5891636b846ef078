// When jpg compacts on its own: from the size of the view, the window of the model and the settings to what is to be done.
// Pure. More tokens never lead to less, and nothing is tried twice without a new turn, or one that grew again.
import { TARGET_SHARE } from "./strategies/pipelines.ts";

/** Where a conversation stands when it is asked about. */
export type AutoPlace =
  /** A turn is complete, the next one has not begun. */
  | "between_turns"
  /** The model works on a turn, between two of its calls. */
  | "in_loop";

/** The settings under `conversation.compaction.auto` that decide whether something is done. */
interface AutoSettings {
  readonly enabled: boolean;
  /** Share of the window above which it compacts, 0..1. */
  readonly trigger_ratio: number;
  /** Share of the window from which it warns, 0..1. */
  readonly warning_ratio: number;
  /** No more complete turns than this are left alone; >= 0. */
  readonly min_turns: number;
}

export interface AutoFacts {
  readonly settings: AutoSettings;
  readonly place: AutoPlace;
  /** Whether the pipeline `tiered` stands in place of a profile. */
  readonly isTiered: boolean;
  /** What the model is sent next, estimated tokens, a turn that is still open included. */
  readonly tokens: number;
  /** Context window of the model, tokens; null = unknown. */
  readonly windowTokens: number | null;
  /** Complete turns. */
  readonly turns: number;
  /** Complete turns there were when it last compacted, or tried to; null = never, or forgotten. */
  readonly triedAt: number | null;
  /** What that try left, tokens as above; null = unknown. */
  readonly leftTokens?: number | null;
  /** Whether it warned, and the size has not been below the warning since. */
  readonly hasWarned: boolean;
}

/**
 * What is to be done; null = nothing. `compact`: `by` the profile or pipeline of the settings, or, while a turn is open, by
 * tiers 1 and 2 over the complete turns, then over the answered calls of the open one.
 */
type AutoDecision = { readonly type: "compact"; readonly by: "profile" | "tiers" } | { readonly type: "warn" };

/** Share of the window above which it compacts unless another is set (D17). */
export const TRIGGER_RATIO = 0.75;
/** The same of the pipeline `tiered`, and the least inside a tool loop (Compaction v2). */
const TIERED_RATIO = 0.8;

/** Decides. */
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

/** Share of the window that a turn must have grown by since the last try inside it: each try rewrites what is cached. */
const REGROWTH_RATIO = 0.05;

function hasGrownAgain({ place, tokens, leftTokens = null }: AutoFacts, windowTokens: number): boolean {
  return place === "in_loop" && leftTokens !== null && tokens >= leftTokens + REGROWTH_RATIO * windowTokens;
}

/** Whether a size is one to warn of. */
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

/** Inside a loop the limit itself is too much: the next call would come in above it. */
function isOverTrigger(facts: AutoFacts, windowTokens: number): boolean {
  const limit = windowTokens * triggerRatio(facts);
  return facts.place === "in_loop" ? facts.tokens >= limit : facts.tokens > limit;
}

// Whether a chat offers to compact. Pure: what was asked before and what the conversation looks like now decide. It is
// asked between the user's message and the model's answer, so never while tools run.

/** Messages of the view from which compacting is offered. */
const OFFERED_FROM = 50;
/** Further messages before it is offered again. */
const AGAIN_AFTER = 10;
/** Messages after a compaction in which it is not offered. */
const QUIET_AFTER_COMPACTION = 20;

/** What a chat remembers of its offers; of one run of the chat, never stored. */
export interface CompactOffers {
  /** The user asked never to be asked again. */
  readonly disabled: boolean;
  /** Messages of the view when it was offered last; null = not since the view was compacted. */
  readonly offeredAt: number | null;
}

/** The conversation, the user's new message included. */
interface OfferFacts {
  /** Messages of the view. */
  readonly messages: number;
  /** Messages since the newest compaction in force; null = there is none. */
  readonly sinceCompaction: number | null;
}

/** The state a chat begins with. */
export const NO_OFFERS: CompactOffers = { disabled: false, offeredAt: null };

/** Whether to offer a compaction now. */
export function offersCompaction({ disabled, offeredAt }: CompactOffers, facts: OfferFacts): boolean {
  if (disabled || facts.messages < OFFERED_FROM) return false;
  if (facts.sinceCompaction !== null && facts.sinceCompaction < QUIET_AFTER_COMPACTION) return false;
  return offeredAt === null || facts.messages >= offeredAt + AGAIN_AFTER;
}

/** Conversations below this are never compacted for a model: it would lose more than it gains. Tokens, estimated. */
export const LEAST_AGENT_TOKENS = 10_000;

/** What comes of a request; `target`: the size that is aimed at, tokens. */
export type AgentVerdict =
  | { readonly type: "too_small" }
  | { readonly type: "not_needed"; readonly target: number }
  | { readonly type: "compact"; readonly target: number };

/** A view before a window. Tokens, estimated; `overhead` is the part that no compaction reaches. */
interface JudgedView {
  readonly tokens: number;
  readonly overhead: number;
  readonly windowTokens: number;
}

/** Decides over a view. */
export function judgeAgentCompaction({ tokens, overhead, windowTokens }: JudgedView): AgentVerdict {
  if (tokens - overhead < LEAST_AGENT_TOKENS) return { type: "too_small" };
  const target = Math.round(windowTokens * TARGET_SHARE);
  return { type: tokens <= target ? "not_needed" : "compact", target };
}
