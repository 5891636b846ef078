// Reports the outcome of a compaction: what it hides, what it saves, and warnings.
import type { Ungrounded } from "../../core/compact/grounding.ts";
import { lostFacts } from "../../core/compact/lost-facts.ts";
import { type CompactionPlan, DRAFT_ID } from "../../core/compact/plan.ts";
import { describeRestored } from "../../core/compact/plan-effect.ts";
import { policySteps } from "../../core/compact/timeline.ts";
import type { Nothing } from "../../core/conversation/bound-resolution.ts";
import type { Compaction } from "../../core/conversation/compaction.ts";
import type { ProjectedTurn, View } from "../../core/conversation/event.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { describePolicies } from "../../core/conversation/policy.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { cacheCost } from "../../core/model/cache-cost.ts";
import type { NextCallTerms } from "../models/next-call.ts";
import {
  type CompactReport,
  callsToPay,
  costOfChange,
  describeGrowth,
  eventsRemoved,
  MOST_CALLS,
  type StrategyReport,
  segmentTokens,
} from "./compact-report.ts";
import type { PlannedCompaction } from "./plan.ts";

/** Reports that there was nothing to compact, and why. */
export function nothingReport(
  branch: string,
  dryRun: boolean,
  { plan: { nothing, hints }, tokens, tokens_source, meter, turns, problems }: PlannedCompaction<Nothing>,
): CompactReport {
  return {
    conversation: conversationOf(branch),
    branch,
    dryRun,
    compaction: null,
    commit: null,
    reason: nothing,
    hints,
    from_turn: null,
    to_turn: null,
    policies: "",
    tokens,
    tokens_source,
    overhead: meter.overhead,
    overhead_source: meter.overheadSource,
    pruned: null,
    cache: null,
    receipt: null,
    ungrounded: [],
    report: null,
    segments: turns.size === 0 ? [] : [{ from: 0, to: turns.size - 1, kind: "kept", tokens }],
    planned_summary: null,
    warnings: problems,
  };
}

/** Reports what a compaction does, or would do. */
export function describeReport(facts: {
  branch: string;
  dryRun: boolean;
  planned: PlannedCompaction;
  compaction: Compaction;
  ungrounded: readonly Ungrounded[];
  /** In a dry run, the writer of the summary; else null. */
  summarizer: string | null;
  /** Notes on the summary. */
  notes: readonly string[];
  /** What the next call is charged; null = not known. */
  terms: NextCallTerms | null;
}): CompactReport {
  const { planned, compaction, ungrounded, summarizer } = facts;
  const { meter, before, after } = planned;
  const isWritten = planned.plan.summarize === undefined;
  const counting = { count: meter.countEvent, overhead: meter.overheadUnder(planned.live.applied) };
  const pruned = compaction.tools?.tokens;
  const { overhead } = counting;
  const measure = { factor: meter.factor, overhead: { before: overhead, after: overhead - (pruned ?? 0) } };
  const cache = isWritten ? cacheCost(before, after, { ...counting, pruned }) : null;
  const cost = costOfChange(cache, facts.terms);
  return {
    conversation: conversationOf(facts.branch),
    branch: facts.branch,
    dryRun: facts.dryRun,
    compaction,
    commit: null,
    from_turn: compaction.from_turn,
    to_turn: compaction.to_turn,
    policies: isWritten ? describePolicies(compaction) : "summary",
    tokens: planned.tokens,
    tokens_source: planned.tokens_source,
    overhead: counting.overhead,
    overhead_source: meter.overheadSource,
    pruned: compaction.tools === undefined ? null : { names: compaction.tools.names, tokens: pruned ?? 0 },
    cache,
    cost,
    receipt: compaction.receipt ?? null,
    ...(compaction.receipt === undefined ? {} : { lost: lostFacts(before, after, [compaction]) }),
    ungrounded,
    report: reportOf(planned),
    segments: segmentTokens(planned.plan, { ...planned, countEvent: meter.countEvent }),
    planned_summary:
      summarizer === null ? null : { from_turn: compaction.from_turn, to_turn: compaction.to_turn, model: summarizer },
    warnings: [...warningsOf(planned, { cache, cost }), ...facts.notes],
    ...(facts.dryRun ? { views: { before, after: withoutDraftId(after), measure } } : {}),
  };
}

/** Names a planned summary `planned` in the view for people, since it has no id yet. */
function withoutDraftId({ turns }: View): View {
  const named = turns.map((turn): ProjectedTurn => {
    const { origin } = turn;
    if (origin.kind === "kept" || origin.compaction !== DRAFT_ID) return turn;
    return { ...turn, origin: { ...origin, compaction: "planned" } };
  });
  return { turns: named };
}

function reportOf(planned: PlannedCompaction): StrategyReport | null {
  const { plan, tokens, meter, before, after, indexTokens } = planned;
  const { compaction } = plan;
  if (plan.summarize !== undefined) return null;
  const byProfile = compaction.strategy === undefined || compaction.summary !== undefined;
  const steps = byProfile ? policySteps(compaction, { before, after, countEvent: meter.countEvent }) : plan.steps;
  const index = { strategy: "index", events_removed: 0, estimated_tokens_saved: -(indexTokens ?? 0) };
  return {
    events_removed: eventsRemoved(planned),
    estimated_tokens_saved: tokens.before - tokens.after,
    steps: indexTokens === undefined ? steps : [...steps, index],
  };
}

type Costs = Pick<CompactReport, "cache" | "cost">;

function warningsOf(planned: PlannedCompaction, costs: Costs): string[] {
  const { plan, problems } = planned;
  const { from_turn, to_turn } = plan.compaction;
  return [
    ...(plan.extendedFrom === undefined
      ? []
      : [
          `extended from ${plan.extendedFrom.from}..${plan.extendedFrom.to} to ${from_turn}..${to_turn}: a summary partly overlaps it`,
        ]),
    ...plan.hiddenBy.map((id) => `hidden by summary ${id} until ${id} is reverted`),
    ...givenBackNotice(planned),
    ...gainNotice(planned, costs),
    ...agentsTools(plan),
    ...problems,
  ];
}

function givenBackNotice({ plan, turns, live, before, after }: PlannedCompaction): string[] {
  const given = describeRestored(plan.compaction, { turns, compactions: live.applied, before, after });
  return given === null ? [] : [`gives back ${given}`];
}

/** Warns that jpg cannot prune what the agent itself offers its model. */
function agentsTools({ compaction: { tools } }: CompactionPlan): string[] {
  if (tools === undefined || tools.tokens !== undefined) return [];
  return [
    "the agent still sends all its tools; only `jpg query`, `jpg chat` and exported requests leave out the pruned ones",
  ];
}

/** Warns that the view grows, or that rewriting the provider's cache costs more than the compaction saves. */
function gainNotice({ plan, tokens, meter, live }: PlannedCompaction, costs: Costs): string[] {
  const { compaction, summarize, hiddenBy } = plan;
  const { before, after } = tokens;
  if (summarize !== undefined || hiddenBy.length > 0) return [];
  if (after > before) return [`the view grows ${describeGrowth(tokens)}`];
  const calls = callsToPay(costs);
  // Tool definitions are not part of the view.
  if (compaction.tools !== undefined || (calls !== null && calls <= MOST_CALLS)) return [];
  const saved = before - after;
  // System prompt and tools precede every change, so they stay cached.
  const own = before - meter.overheadUnder(live.applied);
  const share = own <= 0 ? "" : ` (${((100 * saved) / own).toFixed(1)}%)`;
  const pays = calls === null ? "it never pays" : `it pays after ${calls} calls`;
  return [
    `saves only ${formatTokens(saved)} of the conversation's ${formatTokens(own)} tokens${share}, yet the cached prefix has to be rewritten: ${pays}`,
  ];
}
