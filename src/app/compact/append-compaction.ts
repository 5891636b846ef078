// Plans one compaction, has its summary written if it needs one, and appends it in one commit. A dry run goes the same way up to the
// commit, but asks no model: of a summary that only a model can write it knows no text. A summary is bound to the very turns it was
// written for: when they changed meanwhile, nothing is committed.

import { DRAFT_ID } from "../../core/compact/plan.ts";
import { describeGivenBack } from "../../core/compact/plan-effect.ts";
import { isNothing } from "../../core/conversation/bound-resolution.ts";
import { type Compaction, EXTRACTIVE, isHiding } from "../../core/conversation/compaction.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { boundAt } from "../../core/conversation/range-bound.ts";
import { compactionMessage } from "../../store/messages.ts";
import { commitPlan, type PlannedChange, type PlannedValue, recordChange } from "../branch/append-record.ts";
import { type BranchTree, loadBranchTree } from "../branch/branch-tree.ts";
import { storeOverrides } from "../branch/conversation-config.ts";
import { keepHidden } from "../branch/counted-view.ts";
import { coverFacts } from "../branch/cover-facts.ts";
import { coversDigest } from "../branch/covers.ts";
import { learnKept } from "../branch/kept-turns-cache.ts";
import type { KnownTurns } from "../branch/load-view.ts";
import { refreshViews } from "../branch/refresh-view.ts";
import { verifyCoverage } from "../branch/verify-coverage.ts";
import { keepHiddenCounts } from "../diff/counted-sides.ts";
import { largestChanges } from "../diff/largest-changes.ts";
import { newForkName } from "../names/fork-name.ts";
import { type NothingPlanned, type PlannedCompaction, planOnBranch } from "../plan/compact-plan.ts";
import type { CompactReport } from "../plan/compact-report.ts";
import { hiddenBy } from "../plan/hidden-by.ts";
import { makeActive } from "../workspace/standing.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { CompactRequest } from "./compact-request.ts";
import { checkSummary, complete, withReceipt } from "./complete-compaction.ts";
import { describeReport, nothingReport } from "./describe-compaction.ts";

/** What was done, with the plan that it came from. */
export interface AppendedCompaction {
  readonly report: CompactReport;
  readonly planned: PlannedCompaction | NothingPlanned;
}

type Planned = AppendedCompaction["planned"];

/** Appends the compaction, or in a dry run plans it. Throws as `compact` does. */
export async function appendCompaction(
  workspace: Workspace,
  tree: BranchTree,
  request: CompactRequest,
): Promise<AppendedCompaction> {
  const start = request.dryRun ? tree : await reload(workspace, tree);
  const first = await planOnBranch(workspace, start, request);
  const summarizer = await summarizerOf(workspace, first, request);
  const ready = await withSummary(workspace, start, { planned: first, request, summarizer });
  const { target, onFork } = await chooseTarget(workspace, start, { planned: first, request });
  const read = knownTurns(start, first);
  const plan = async (at: BranchTree): Promise<PlannedValue<PlannedAppend>> => {
    const isPlanned = at.commit === start.commit && ready === request;
    const planned = isPlanned ? first : withExtension(await planOnBranch(workspace, at, ready, read), first);
    const made = await makeChange(workspace, at, { planned, request: ready, summarizer, target, onFork });
    return { change: made.change, value: { planned, at, report: made.report } };
  };
  // A call that compacts nothing leaves no settings behind either.
  if (request.dryRun || workspace.overrides.length > 0) {
    const { change, value } = await plan(start);
    if (change === null) return value;
  }
  const stored = await storeOverrides(workspace, start);
  if (stored !== null) await refreshViews(workspace, start.branch, stored.parent);
  const current = stored === null ? start : await reload(workspace, start);
  const { appended, value } = await commitPlan(workspace, current, plan, target);
  const { planned, at, report } = value;
  if (appended === null) return { report, planned };
  await keepFacts(workspace, at, planned, report);
  if (onFork && request.activate) await makeActive(workspace, target);
  await refreshViews(workspace, target, appended.parent, knownTurns(at, planned));
  return { report: { ...report, commit: appended.commit }, planned };
}

/** A compaction as it was planned. */
interface PlannedAppend extends AppendedCompaction {
  /** The branch that it was planned on. */
  readonly at: BranchTree;
}

/** The turns that a plan read, by object id: the view shows some of them. */
function knownTurns({ turnOids }: BranchTree, planned: Planned): KnownTurns {
  if (isNothing(planned)) return new Map();
  return new Map([...planned.turns.values()].map(({ index, events }) => [turnOids[index] ?? "", events]));
}

/** What is kept by name is found by its turns, and what is hidden from now on counted by its facts. */
async function keepFacts(
  { store }: Workspace,
  tree: BranchTree,
  planned: Planned,
  { compaction }: CompactReport,
): Promise<void> {
  if (isNothing(planned) || compaction === null) return;
  const { turns, live, before } = planned;
  const made = { compactions: [compaction], turns, areNew: true };
  const [added = compaction] = await learnKept(store, tree.turnOids, made);
  if (!isHiding(compaction)) return;
  await keepHidden(store, tree, { turns, compactions: [...live.applied, added] });
  await keepHiddenCounts(store, tree, { view: before, turns, compactions: live.applied, added });
}

/** The branch that is appended to. */
interface Target {
  readonly target: string;
  /** Whether it is a new one. */
  readonly onFork: boolean;
}

async function chooseTarget(
  workspace: Workspace,
  tree: BranchTree,
  { planned: { config }, request: { fork } }: PlannedRequest,
): Promise<Target> {
  const onFork = fork ?? config.conversation.compaction.fork;
  const target = onFork ? await newForkName(workspace, conversationOf(tree.branch), "compact") : tree.branch;
  return { target, onFork };
}

interface Summarizer {
  /** As `summarizerOf` gives it. */
  readonly summarizer: string | null;
}

interface PlannedRequest {
  readonly planned: Planned;
  readonly request: CompactRequest;
}

/** Who writes the summary of a plan: a model, or `extractive`; null where none is to be written. */
async function summarizerOf(workspace: Workspace, planned: Planned, request: CompactRequest): Promise<string | null> {
  if (isNothing(planned) || planned.plan.summarize === undefined) return null;
  const { summaryModel } = await import("../summary/summary-model.ts");
  return summaryModel(workspace, planned, request);
}

/**
 * Has the summary of a plan written that needs one: the request with its text, for exactly the turns that it was written for. In a dry
 * run only an extract is.
 */
async function withSummary(
  workspace: Workspace,
  tree: BranchTree,
  { planned, request, summarizer }: PlannedRequest & Summarizer,
): Promise<CompactRequest> {
  if (isNothing(planned) || summarizer === null) return request;
  if (request.dryRun && summarizer !== EXTRACTIVE) return request;
  const { writeSummary } = await import("../summary/summarize.ts");
  const summary = await writeSummary(workspace, tree, planned, request);
  const { compaction } = planned.plan;
  const covers = await coversDigest(compaction, coverFacts(workspace.store, tree));
  return {
    ...request,
    summary,
    range: {
      from: boundAt(compaction.from_turn, compaction.from_event),
      to: boundAt(compaction.to_turn, compaction.to_event),
    },
    ...(covers === null ? {} : { expects: { covers } }),
  };
}

/** A plan for the turns of a summary knows no more that they are more than was asked for. */
function withExtension(planned: Planned, first: Planned): Planned {
  if (isNothing(planned) || isNothing(first) || first.plan.extendedFrom === undefined) return planned;
  return { ...planned, plan: { ...planned.plan, extendedFrom: first.plan.extendedFrom } };
}

/** Makes the commit's content and the report; no content in a dry run and where there is nothing to compact. */
async function makeChange(
  workspace: Workspace,
  tree: BranchTree,
  { planned, request, summarizer, target, onFork }: PlannedRequest & Summarizer & Target,
): Promise<{ readonly report: CompactReport; readonly change: PlannedChange | null }> {
  const { dryRun, strict = false } = request;
  if (isNothing(planned)) return { report: nothingReport(tree.branch, dryRun, planned), change: null };
  const compaction = withReceipt(await complete(workspace, tree, planned, request.expects?.covers), planned);
  const ungrounded = await checkSummary(workspace, tree, { compaction, turns: planned.turns, strict });
  const notes = await extractNotesOf(workspace, planned, { model: summarizer ?? compaction.summary?.model, request });
  const writer = dryRun ? summarizer : null;
  const made = { branch: target, dryRun, planned, compaction, ungrounded, summarizer: writer, notes };
  const report = { ...describeReport(made), ...(onFork ? { activated: request.activate } : {}) };
  if (dryRun) return { report, change: null };
  verifyCoverage({
    turnCount: tree.turnOids.length,
    turns: planned.turns,
    compactions: [...planned.live.applied, compaction],
  });
  return { report, change: changeOf(workspace, compaction, planned) };
}

/** What to say of an extract. */
async function extractNotesOf(
  workspace: Workspace,
  planned: PlannedCompaction,
  { model, request }: { readonly model: string | undefined; readonly request: CompactRequest },
): Promise<readonly string[]> {
  if (model !== EXTRACTIVE) return [];
  const { extractNotes } = await import("../summary/summary-model.ts");
  return extractNotes(workspace, planned, { model, asked: request });
}

function changeOf(workspace: Workspace, compaction: Compaction, planned: PlannedCompaction): PlannedChange {
  const { turns, live, before, after, meter } = planned;
  const givenBack = describeGivenBack(compaction, { turns, compactions: live.applied, before, after });
  const changes = largestChanges({ before, after, meter }, new Set([DRAFT_ID]));
  return {
    message: compactionMessage({ compaction, hidden: hiddenBy(compaction, planned), givenBack, changes }),
    changes: [recordChange(workspace, "compactions", compaction)],
    sign: true,
  };
}

async function reload(workspace: Workspace, tree: BranchTree): Promise<BranchTree> {
  const tip = await workspace.store.readBranch(tree.branch);
  return tip === null || tip === tree.commit ? tree : loadBranchTree(workspace.store, tree.branch, tip);
}
