// What planning a compaction takes and gives: the request, the draft of what would be stored, the plan.
import type { Compaction, SelectedCall, StubStyle, Summary } from "../compaction/compaction.ts";
import type { Policies, SummaryPolicy } from "../compaction/policy.ts";
import type { BoundFacts } from "../range/bound-position.ts";
import type { RangeRequest } from "../range/bound-resolution.ts";
import type { CutRange, TurnRange } from "../range/turn-range.ts";
import type { StepReport } from "../strategies/compose-steps.ts";
import type { StrategyRequest } from "../strategies/plan-strategies.ts";
import type { ToolCompactionHints } from "../tools/tool-hints.ts";
import type { PlanSegment } from "./plan-timeline.ts";

/** What planning knows of the turns that it does not read. */
export interface UnreadTurns {
  /** Messages of each, by position. */
  readonly messages: ReadonlyMap<number, number>;
  /** Tools that they call, each with turns (0-based, inclusive) of which the first and the last do, as far as it is known. */
  readonly calls: readonly (TurnRange & { readonly tool: string })[];
}

/** Whether a request hides whole turns: a summary or an omission is to stand for them. */
export function hidesTurns({ policies, strategies }: Pick<CompactionRequest, "policies" | "strategies">): boolean {
  if (strategies === undefined) return policies.summary !== undefined || policies.turns !== undefined;
  return strategies.uses.some(({ strategy }) => strategy.hidesTurns === true);
}

export interface CompactionRequest extends BoundFacts {
  readonly range: RangeRequest;
  /** Those of a profile; not looked at where strategies decide. */
  readonly policies: Policies;
  /** Strategies in place of a profile. */
  readonly strategies?: StrategyRequest;
  /** Calls that are named one by one, in place of policies. */
  readonly calls?: readonly SelectedCall[];
  /** How stubs are written. */
  readonly stubs?: StubStyle;
  /** The accepted text, when the policy is a summary and there is one already. */
  readonly summary?: Summary;
  /** Hints in force; those of tools called in the range are frozen into the compaction. */
  readonly hints?: ToolCompactionHints;
  readonly profile?: string;
  readonly source?: NonNullable<Compaction["source"]>;
  /** Ids of events that stay unchanged; those outside the range are left out of the plan. */
  readonly keep?: readonly string[];
  /** Reach the answered calls of a tool loop that is not finished, though the end of the range was not named. */
  readonly intoLoop?: boolean;
  /** What is known of those turns of `turnsToLeave` that are not at hand. */
  readonly unread?: UnreadTurns;
  /** Make a plan, too, of which nothing shows until a summary over it is reverted, though no range was named. */
  readonly beneath?: boolean;
}

/** A compaction before the store has given it id, time and digest; `stats` has no tokens yet. */
export type CompactionDraft = Omit<Compaction, "id" | "timestamp" | "covers">;

export interface CompactionPlan {
  readonly compaction: CompactionDraft;
  /** How to make the summary when its text is not there yet; `compaction.summary` is absent then. */
  readonly summarize?: SummaryPolicy;
  /** The range before it was extended over summaries that it partly overlapped; absent when it was not. */
  readonly extendedFrom?: CutRange;
  /** The whole conversation as it would be read. */
  readonly segments: readonly PlanSegment[];
  /** Ids of the live summaries that hide all of a mechanical plan until they are reverted, oldest first; usually empty. */
  readonly hiddenBy: readonly string[];
  /** What each strategy added to those before it, in order; empty where a profile decided (policy-steps.ts). */
  readonly steps: readonly StepReport[];
}
