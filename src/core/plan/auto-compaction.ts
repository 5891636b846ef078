// When jpg compacts on its own: from the size of the view, the window of the model and the settings to what is to be done.
// Pure. More tokens never lead to less, and nothing is tried twice without a new turn, or one that grew again.

/** Where a conversation stands when it is asked about. */
export type AutoPlace =
  /** A turn is complete, the next one has not begun. */
  | "between_turns"
  /** The model works on a turn, between two of its calls. */
  | "in_loop";

/** The settings under `conversation.compaction.auto` that decide whether something is done. */
export interface AutoSettings {
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
export type AutoDecision = { readonly type: "compact"; readonly by: "profile" | "tiers" } | { readonly type: "warn" };

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
export const REGROWTH_RATIO = 0.05;

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
