// The names that a person gives to `--strategy` and to the setting `strategy`. They stand apart from what bears them: whoever
// reads the settings needs the names alone.

/** Names of the strategies, those that take least first. */
export const STRATEGY_NAMES = [
  "strip-reasoning",
  "dedup-tools",
  "supersede",
  "drop-failed",
  "truncate-results",
  "mask-results",
  "strip-arguments",
  "strip-tool-results",
  "strip-tools",
  "fade-tools",
  "strip-attachments",
  "prune-tools",
  "classify-tangents",
  "summarize",
] as const;

export type StrategyName = (typeof STRATEGY_NAMES)[number];

/** Names of the pipelines (pipelines.ts), which stand for lists of strategies. */
export const PIPELINE_NAMES = ["auto", "tiered"] as const;

export type PipelineName = (typeof PIPELINE_NAMES)[number];

/** The strategy that a person is asked about: nobody's word but the user's hides a turn. */
export const TANGENTS: "classify-tangents" = "classify-tangents" satisfies StrategyName;
