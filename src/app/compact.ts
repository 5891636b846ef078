// Compacts a conversation: load → plan → append one commit with one compaction; a dry run stops after the plan.
import { isNothing, type Nothing } from "../core/bound-resolution.ts";
import type { Compaction } from "../core/compaction.ts";
import { userError } from "../core/errors.ts";
import type { CompactionPlan } from "../core/plan-compaction.ts";
import { describePolicies } from "../core/policy.ts";
import { compactionMessage } from "../store/commit-message.ts";
import { commitChange, type PlannedChange, recordChange, timestampAfter } from "./append-record.ts";
import { type BranchTree, loadBranchTree } from "./branch-tree.ts";
import { type CompactInput, type PlannedCompaction, planOnBranch } from "./compact-plan.ts";
import type { CompactReport } from "./compact-report.ts";
import { segmentTokens } from "./compact-segments.ts";
import { loadConversationConfig, storeOverrides } from "./conversation-config.ts";
import { conversationOf } from "./conversations.ts";
import { coverFacts } from "./cover-facts.ts";
import { coversDigest } from "./covers.ts";
import { newForkName } from "./fork-name.ts";
import { receiptOf } from "./receipt.ts";
import { refreshViews } from "./refresh-view.ts";
import { randomId } from "./runtime.ts";
import { verifyCoverage } from "./verify-coverage.ts";
import type { Workspace } from "./workspace.ts";

export interface CompactRequest extends CompactInput {
  readonly dryRun: boolean;
  /** Commit on a new fork; absent = as configured (`fork`). */
  readonly fork?: boolean;
  /** Make that fork active. */
  readonly activate: boolean;
  /** What an accepted summary was written for; refused when it no longer fits. */
  readonly expects?: { readonly covers: string };
}

/** Compacts. Throws `needs_summary` when the profile summarises and no text was given, `range_changed`, and planning errors. */
export async function compact(workspace: Workspace, tree: BranchTree, request: CompactRequest): Promise<CompactReport> {
  if (!request.dryRun && (await storeOverrides(workspace, tree)) !== null) await refreshViews(workspace, tree.branch);
  const start = request.dryRun ? tree : await reload(workspace, tree);
  const onFork = request.fork ?? (await loadConversationConfig(workspace, start)).config.conversation.compaction.fork;
  const target = onFork ? await newForkName(workspace, conversationOf(tree.branch), "compact") : tree.branch;
  let report: CompactReport | null = null;
  const plan = async (current: BranchTree): Promise<PlannedChange | null> => {
    const planned = await planOnBranch(workspace, current, request);
    if (isNothing(planned)) {
      report = nothingReport(tree, request, planned);
      return null;
    }
    requireSummary(planned, request);
    const compaction = await complete(workspace, current, planned, request.expects?.covers);
    report = describeReport({ branch: target, dryRun: request.dryRun, planned, compaction });
    if (request.dryRun) return null;
    await verifyCoverage(workspace.store, current, {
      turns: planned.turns,
      compactions: [...planned.live.applied, compaction],
    });
    const hidden = receiptOf(compaction, { turns: planned.turns, after: planned.after });
    return {
      message: compactionMessage({ compaction, hidden }),
      changes: [recordChange(workspace, "compactions", compaction)],
      sign: true,
    };
  };
  const commit = await commitChange(workspace, start, plan, target);
  if (report === null) throw new Error("a plan always leaves a report");
  if (commit === null) return report;
  if (onFork && request.activate) await workspace.store.useBranch(target);
  await refreshViews(workspace, target);
  return { ...(report as CompactReport), commit };
}

async function reload(workspace: Workspace, tree: BranchTree): Promise<BranchTree> {
  const tip = await workspace.store.readBranch(tree.branch);
  return tip === null || tip === tree.commit ? tree : loadBranchTree(workspace.store, tree.branch, tip);
}

/** Gives a draft its id, time, digest and token counts. Throws `range_changed` when it must cover what it no longer does. */
export async function complete(
  workspace: Workspace,
  tree: BranchTree,
  planned: PlannedCompaction,
  expected?: string,
): Promise<Compaction> {
  const draft = planned.plan.compaction;
  const covers = await coversDigest(draft, coverFacts(workspace.store, tree));
  if (expected !== undefined && covers !== expected) {
    throw userError(
      "range_changed",
      `The summary was written for other turns than ${draft.from_turn}..${draft.to_turn} of ${tree.branch} as they are now.`,
      {
        hints: [
          "`jpg compact --emit FILE` writes the bundle anew; have the summary written again from it.",
          "Nothing was committed.",
        ],
      },
    );
  }
  const { before, after } = planned.tokens;
  return {
    ...draft,
    id: randomId(workspace.runtime),
    timestamp: timestampAfter(
      workspace.runtime.now(),
      planned.live.all.map((compaction) => compaction.timestamp),
    ),
    ...(covers === null ? {} : { covers }),
    stats: {
      ...draft.stats,
      keep_recent: tree.turnOids.length - 1 - draft.to_turn,
      ...(before === 0 ? {} : { compression_ratio: Math.round((1 - after / before) * 1000) / 1000 }),
      tokens: { before, after },
    },
  };
}

function requireSummary({ plan, profile, config }: PlannedCompaction, request: CompactRequest): void {
  if (plan.summarize === undefined || request.dryRun) return;
  const { from_turn, to_turn } = plan.compaction;
  const model = plan.summarize.model ?? config.conversation.compaction.model;
  throw userError(
    "needs_summary",
    `Profile ${profile} summarises turns ${from_turn}..${to_turn}${model === "" ? "" : ` with ${model}`}, and this jpg calls no model yet.`,
    {
      hints: [
        "`jpg compact --emit FILE` writes what a person or an agent needs to write the summary.",
        "`jpg compact --accept FILE` stores the summary that was written.",
      ],
    },
  );
}

function nothingReport(
  tree: BranchTree,
  request: CompactRequest,
  { nothing, tokens, turnCount }: Nothing & { tokens: CompactReport["tokens"]; turnCount: number },
): CompactReport {
  return {
    conversation: conversationOf(tree.branch),
    branch: tree.branch,
    dryRun: request.dryRun,
    compaction: null,
    commit: null,
    reason: nothing,
    from_turn: null,
    to_turn: null,
    policies: "",
    tokens,
    segments: turnCount === 0 ? [] : [{ from: 0, to: turnCount - 1, kind: "kept", tokens }],
    warnings: [],
  };
}

function describeReport(facts: {
  branch: string;
  dryRun: boolean;
  planned: PlannedCompaction;
  compaction: Compaction;
}): CompactReport {
  const { planned, compaction } = facts;
  return {
    conversation: conversationOf(facts.branch),
    branch: facts.branch,
    dryRun: facts.dryRun,
    compaction,
    commit: null,
    from_turn: compaction.from_turn,
    to_turn: compaction.to_turn,
    policies: planned.plan.summarize === undefined ? describePolicies(compaction) : "summary",
    tokens: planned.tokens,
    segments: segmentTokens(planned.plan, planned),
    warnings: warningsOf(planned),
  };
}

function warningsOf({ plan, tokens, config }: PlannedCompaction): string[] {
  const { from_turn, to_turn } = plan.compaction;
  return [
    ...summaryNotice(plan, config.conversation.compaction.model),
    ...(plan.extendedFrom === undefined
      ? []
      : [
          `extended from ${plan.extendedFrom.from}..${plan.extendedFrom.to} to ${from_turn}..${to_turn}: a summary partly overlaps it`,
        ]),
    ...plan.hiddenBy.map((id) => `hidden by summary ${id} until ${id} is reverted`),
    ...(plan.summarize === undefined && tokens.after > tokens.before
      ? [`the view grows from ${tokens.before} to ${tokens.after} tokens`]
      : []),
  ];
}

function summaryNotice(plan: CompactionPlan, model: string): string[] {
  if (plan.summarize === undefined) return [];
  const name = plan.summarize.model ?? (model === "" ? "none chosen" : model);
  return [
    `will generate a summary for turns ${plan.compaction.from_turn}-${plan.compaction.to_turn} using model ${name}`,
  ];
}
