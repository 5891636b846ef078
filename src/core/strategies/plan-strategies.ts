// From strategies to the fields of a compaction: looks at the conversation, asks the strategies, writes down what they say.
import type { Compaction, StubStyle } from "../compaction/compaction.ts";
import { defined } from "../defined.ts";
import { composeSteps, type StepReport, tokensOfTools } from "./compose-steps.ts";
import { encodeDecisions } from "./encode-decisions.ts";
import type { StrategyUse } from "./strategy.ts";
import { type ContextFacts, createStrategyContext } from "./strategy-context.ts";

/** What planning by strategies needs beside the conversation. */
export interface StrategyRequest
  extends Pick<ContextFacts, "hints" | "subsumed" | "definedTools" | "calledTools" | "toolTokens" | "pairs"> {
  readonly uses: readonly StrategyUse[];
  /** What the compaction is said to be made by; absent = the names of the uses. */
  readonly names?: readonly string[];
  /** Tokens of the view before, estimated; for steps that are taken only above a size. */
  readonly viewTokens?: number;
  /** Tokens for each token of the plain estimate; default 1. */
  readonly tokenFactor?: number;
  /** Context window of the conversation's model, tokens. */
  readonly windowTokens?: number;
}

/** What the strategies want, as fields of a compaction. */
export interface StrategyOutcome {
  readonly fields: Partial<
    Pick<Compaction, "reasoning" | "tool_calls" | "tool_overrides" | "attachments" | "turns" | "tools">
  >;
  /** Of the steps that were taken, in order. */
  readonly steps: readonly StepReport[];
}

/** Asks strategies about a conversation; `stubs` = how the stubs of the compaction will be written. */
export function planStrategies(
  { uses, viewTokens, windowTokens, tokenFactor, ...known }: StrategyRequest,
  facts: Omit<ContextFacts, "hints" | "subsumed" | "definedTools" | "calledTools" | "toolTokens" | "pairs">,
  stubs?: StubStyle,
): StrategyOutcome {
  const context = createStrategyContext({
    ...facts,
    ...known,
    ...defined({ windowTokens }),
  });
  const { decisions, steps, reasoning, attachments, turns, prune } = composeSteps(uses, context, {
    ...defined({ stubs, viewTokens, tokenFactor, windowTokens }),
  });
  const tokens = Math.round(tokensOfTools(prune, context) * (tokenFactor ?? 1));
  const spared = known.toolTokens === undefined ? {} : { tokens };
  const fields: StrategyOutcome["fields"] = {
    ...defined({ turns, reasoning }),
    ...encodeDecisions(decisions, context, stubs),
    ...defined({ attachments }),
    ...(prune === undefined ? {} : { tools: { policy: "prune", names: prune, ...spared } }),
  };
  return { fields, steps };
}
