// The names for `--strategy` and the setting `strategy`, apart from the strategies themselves: reading the settings needs only the names.
import type { Compaction, ContentPolicies, StubStyle } from "../../conversation/compaction.ts";
import { contentPolicies } from "../../conversation/contents/content-types.ts";
import { composeSteps, encodeDecisions, type StepReport, tokensOfTools } from "./encode-decisions.ts";
import type { StrategyUse } from "./strategy.ts";
import { type ContextFacts, createStrategyContext } from "./strategy-context.ts";

/** Names of the strategies, those that take least first. */
export const STRATEGY_NAMES = [
  "strip-reasoning",
  "dedup-tools",
  "supersede",
  "truncate-results",
  "mask-results",
  "strip-tool-results",
  "strip-tools",
  "fade-tools",
  "strip-images",
  "strip-attachments",
  "prune-tools",
  "classify-tangents",
  "summarize",
] as const;

/** Former strategies, and what to use instead; stored compactions name them. */
export const FORMER_STRATEGIES: Readonly<Record<string, string>> = {
  "drop-failed": "Use fade-tools, which leaves out old calls, failed ones too; or auto.",
  "strip-arguments": "Use fade-tools, which shortens old calls; or strip-tools, which takes all arguments and results.",
};

export type StrategyName = (typeof STRATEGY_NAMES)[number];

/** Names of the pipelines (pipelines.ts), which are lists of strategies. */
export const PIPELINE_NAMES = ["auto", "tiered"] as const;

export type PipelineName = (typeof PIPELINE_NAMES)[number];

/** The strategy that asks a person: only the user may hide a turn. */
export const TANGENTS: "classify-tangents" = "classify-tangents" satisfies StrategyName;

/** What planning by strategies knows in addition to the conversation. */
export interface StrategyFacts
  extends Pick<ContextFacts, "subsumed" | "definedTools" | "calledTools" | "toolTokens" | "pairs" | "windowTokens"> {
  /** Tokens of the view before, estimated; for steps that are taken only above a size. */
  readonly viewTokens?: number;
  /** Tokens per token of the plain estimate; default 1. */
  readonly tokenFactor?: number;
}

/** What the strategies want, as fields of a compaction. */
export interface StrategyOutcome {
  readonly fields: ContentPolicies & Pick<Compaction, "tool_overrides" | "turns">;
  /** Of the steps that were taken, in order. */
  readonly steps: readonly StepReport[];
}

/** Asks strategies about a conversation; `stubs` = how the stubs of the compaction will be written. */
export function planStrategies(
  uses: readonly StrategyUse[],
  { viewTokens, tokenFactor, ...facts }: ContextFacts & StrategyFacts,
  stubs?: StubStyle,
): StrategyOutcome {
  const { windowTokens, toolTokens } = facts;
  const context = createStrategyContext(facts);
  const { decisions, steps, turns, prune, ...policies } = composeSteps(uses, context, {
    stubs,
    viewTokens,
    tokenFactor,
    windowTokens,
  });
  const tokens = Math.round(tokensOfTools(prune, context) * (tokenFactor ?? 1));
  const spared = toolTokens === undefined ? {} : { tokens };
  const { tool_overrides, ...calls } = encodeDecisions(decisions, context, stubs);
  const tools = prune === undefined ? {} : { tools: { policy: "prune" as const, names: prune, ...spared } };
  const contents = contentPolicies({ ...policies, ...calls, ...tools });
  return { fields: { turns, ...contents, tool_overrides }, steps };
}
