// Compacts a conversation: load → plan → append one commit with one compaction; a dry run stops after the plan.
import { isNothing } from "../core/bound-resolution.ts";
import type { Compaction } from "../core/compaction.ts";
import { userError } from "../core/errors.ts";
import { checkGrounding, type Ungrounded } from "../core/loss/grounding.ts";
import { compactionMessage } from "../store/commit-message.ts";
import { commitChange, type PlannedChange, recordChange, timestampAfter } from "./append-record.ts";
import { type BranchTree, loadBranchTree } from "./branch-tree.ts";
import { type CompactInput, type PlannedCompaction, planOnBranch } from "./compact-plan.ts";
import type { CompactReport } from "./compact-report.ts";
import { loadConversationConfig, storeOverrides } from "./conversation-config.ts";
import { conversationOf } from "./conversations.ts";
import { coverFacts } from "./cover-facts.ts";
import { coveredEvents } from "./covered-events.ts";
import { coversDigest } from "./covers.ts";
import { describeReport, nothingReport } from "./describe-compaction.ts";
import { newForkName } from "./fork-name.ts";
import { lossOf } from "./loss.ts";
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
  /** Refuse a summary that says what the events do not bear out. */
  readonly strict?: boolean;
  /** What an accepted summary was written for; refused when it no longer fits. */
  readonly expects?: { readonly covers: string };
}

/**
 * Compacts. Throws `needs_summary` when the profile summarises and no text was given, `range_changed`, `view_grows` when
 * the view would grow and that is not forced, and planning errors.
 */
export async function compact(workspace: Workspace, tree: BranchTree, request: CompactRequest): Promise<CompactReport> {
  const stored = request.dryRun ? null : await storeOverrides(workspace, tree);
  if (stored !== null) await refreshViews(workspace, tree.branch, stored.parent);
  const start = request.dryRun ? tree : await reload(workspace, tree);
  const onFork = request.fork ?? (await loadConversationConfig(workspace, start)).config.conversation.compaction.fork;
  const target = onFork ? await newForkName(workspace, conversationOf(tree.branch), "compact") : tree.branch;
  let report: CompactReport | null = null;
  const plan = async (current: BranchTree): Promise<PlannedChange | null> => {
    const planned = await planOnBranch(workspace, current, request);
    if (isNothing(planned)) {
      report = nothingReport(tree.branch, request.dryRun, planned);
      return null;
    }
    requireSummary(planned, request);
    requireGain(planned, request);
    const compaction = withReceipt(await complete(workspace, current, planned, request.expects?.covers), planned);
    const ungrounded = checkSummary(compaction, planned, request);
    const { dryRun, strategies } = request;
    report = describeReport({ branch: target, dryRun, planned, compaction, ungrounded, strategies });
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
  if (request.dryRun) await plan(start);
  const appended = request.dryRun ? null : await commitChange(workspace, start, plan, target);
  if (report === null) throw new Error("a plan always leaves a report");
  if (appended === null) return report;
  if (onFork && request.activate) await workspace.store.useBranch(target);
  await refreshViews(workspace, target, appended.parent);
  return { ...(report as CompactReport), commit: appended.commit };
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
    `${profile === null ? "The strategy summarize" : `Profile ${profile}`} summarises turns ${from_turn}..${to_turn}${model === "" ? "" : ` with ${model}`}, and this jpg calls no model yet.`,
    {
      hints: [
        "`jpg compact --emit FILE` writes what a person or an agent needs to write the summary.",
        "`jpg compact --accept FILE` stores the summary that was written.",
      ],
    },
  );
}

/** Adds the loss receipt; a summary that is not written yet has none. */
function withReceipt(compaction: Compaction, { plan, turns, before, after, pinned }: PlannedCompaction): Compaction {
  if (plan.summarize !== undefined) return compaction;
  return { ...compaction, receipt: lossOf(compaction, { turns, before, after, pins: pinned }) };
}

/** Lists what a summary says and its events do not bear out. Throws `ungrounded` when asked to be strict. */
function checkSummary(
  compaction: Compaction,
  { turns }: PlannedCompaction,
  { strict }: CompactRequest,
): readonly Ungrounded[] {
  if (compaction.summary === undefined) return [];
  const raw = coveredEvents(compaction, turns).map(({ event }) => event);
  const found = checkGrounding(compaction.summary.summary, raw);
  if (found.length === 0 || strict !== true) return found;
  const named = found.slice(0, MOST_NAMED).map(({ kind, text }) => `${kind} ${JSON.stringify(text)}`);
  throw userError(
    "ungrounded",
    `The summary says ${found.length} things that turns ${compaction.from_turn}..${compaction.to_turn} do not: ${named.join(", ")}${found.length > MOST_NAMED ? ", …" : ""}.`,
    {
      hints: ["Correct the summary, or leave out --strict to store it as it is.", "Nothing was committed."],
      data: { ungrounded: found },
    },
  );
}

/** Findings named in an error before the rest is only counted. */
const MOST_NAMED = 5;

/** Refuses a compaction that would make the view larger. */
function requireGain({ tokens }: PlannedCompaction, { dryRun, force }: CompactRequest): void {
  if (dryRun || force === true || tokens.after <= tokens.before) return;
  throw userError("view_grows", `The view would grow from ${tokens.before} to ${tokens.after} tokens.`, {
    data: { ...tokens },
    hints: ["`--force` compacts all the same; `--dry-run` shows where it grows.", "Nothing was committed."],
  });
}
