// Plans one compaction, has its summary written if needed, and appends it in one commit. A dry run does the same up to the commit,
// but asks no model, so a model's summary has no text yet. A summary is bound to the exact turns for which it was written: if they
// changed meanwhile, nothing is committed.

import { withoutLedger } from "../../core/compact/event-ledger.ts";
import { checkGrounding, type Ungrounded } from "../../core/compact/grounding.ts";
import { type CompactionDraft, DRAFT_ID } from "../../core/compact/plan.ts";
import { describeRestored } from "../../core/compact/plan-effect.ts";
import { type Compaction, EXTRACTIVE, type Injection } from "../../core/conversation/compaction.ts";
import { type Event, isMessage, type View } from "../../core/conversation/event.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { boundAt } from "../../core/conversation/range-bound.ts";
import { userError } from "../../core/errors.ts";
import { compactionMessage } from "../../store/messages.ts";
import {
  commitPlan,
  type PlannedChange,
  type PlannedValue,
  recordChange,
  timestampAfter,
} from "../conversation/append.ts";
import { makeActive } from "../conversation/checked-out.ts";
import { coverFacts, coversDigest, readCovered, verifyCoverage } from "../conversation/covers.ts";
import { storeOverrides } from "../conversation/marks.ts";
import { refreshViews } from "../conversation/refresh-view.ts";
import { randomId } from "../conversation/runtime.ts";
import { type BranchTree, loadBranchTree } from "../conversation/tree.ts";
import type { KnownTurns } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { largestChanges } from "../diff/diff-hunks.ts";
import { nextCallTerms } from "../models/next-call.ts";
import { newForkName } from "../names/conversations.ts";
import { type CompactReport, eventsRemoved, hiddenBy, lossOf } from "./compact-report.ts";
import { describeReport, nothingReport } from "./describe-compaction.ts";
import { extractNotes, summaryModel, writeSummary } from "./generate-summary.ts";
import { type CompactRequest, isNothingPlanned, type Planned, type PlannedCompaction, planOnBranch } from "./plan.ts";

export interface AppendedCompaction {
  readonly report: CompactReport;
  readonly planned: Planned;
}

/** Appends a compaction, or plans it in a dry run. Throws like `compact`. */
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
  const plan = async (at: BranchTree): Promise<PlannedValue<AppendedCompaction & { readonly at: BranchTree }>> => {
    const isPlanned = at.commit === start.commit && ready === request;
    const planned = isPlanned ? first : withExtension(await planOnBranch(workspace, at, ready, read), first);
    const made = await makeChange(workspace, at, { planned, request: ready, summarizer, target, onFork });
    return { change: made.change, value: { planned, at, report: made.report } };
  };
  // Plans first, so that a call that compacts nothing stores no settings either.
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
  if (onFork && request.activate) await makeActive(workspace, target);
  await refreshViews(workspace, target, appended.parent, knownTurns(at, planned));
  return { report: { ...report, commit: appended.commit }, planned };
}

/** Returns the turns that a plan read, by object id, to be reused for the view. */
function knownTurns({ turnOids }: BranchTree, planned: Planned): KnownTurns {
  if (isNothingPlanned(planned)) return new Map();
  return new Map([...planned.turns.values()].map(({ index, events }) => [turnOids[index] ?? "", events]));
}

interface Target {
  readonly target: string;
  /** Whether it is a new fork. */
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
  /** `provider/model` or `extractive`; null = no summary is written. */
  readonly summarizer: string | null;
}

interface PlannedRequest {
  readonly planned: Planned;
  readonly request: CompactRequest;
}

/** Returns who writes the summary of a plan: a model or `extractive`; null when there is none to write. */
async function summarizerOf(workspace: Workspace, planned: Planned, request: CompactRequest): Promise<string | null> {
  if (isNothingPlanned(planned) || planned.plan.summarize === undefined) return null;
  return summaryModel(workspace, planned, request);
}

/**
 * Has a plan's summary written, and returns the request with the text and bound to exactly those turns. A dry run writes only
 * extracts.
 */
async function withSummary(
  workspace: Workspace,
  tree: BranchTree,
  { planned, request, summarizer }: PlannedRequest & Summarizer,
): Promise<CompactRequest> {
  if (isNothingPlanned(planned) || summarizer === null) return request;
  if (request.dryRun && summarizer !== EXTRACTIVE) return request;
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

/** Restores the note that the range was extended, which a second plan for the extended range lacks. */
function withExtension(planned: Planned, first: Planned): Planned {
  if (isNothingPlanned(planned) || isNothingPlanned(first) || first.plan.extendedFrom === undefined) return planned;
  return { ...planned, plan: { ...planned.plan, extendedFrom: first.plan.extendedFrom } };
}

/** Makes the commit's content and the report; no content in a dry run or when there is nothing to compact. */
async function makeChange(
  workspace: Workspace,
  tree: BranchTree,
  { planned, request, summarizer, target, onFork }: PlannedRequest & Summarizer & Target,
): Promise<{ readonly report: CompactReport; readonly change: PlannedChange | null }> {
  const { dryRun = false, strict = false, activate = false } = request;
  if (isNothingPlanned(planned)) return { report: nothingReport(tree.branch, dryRun, planned), change: null };
  const compaction = withReceipt(await completeDraft(workspace, tree, planned, request), planned);
  const ungrounded = await checkSummary(workspace, tree, { compaction, turns: planned.turns, strict });
  const notes = await extractNotesOf(workspace, planned, { model: summarizer ?? compaction.summary?.model, request });
  const writer = dryRun ? summarizer : null;
  const terms = await nextCallTerms(workspace, planned.config, planned.turns.values());
  const made = { branch: target, dryRun, planned, compaction, ungrounded, summarizer: writer, notes, terms };
  const report = { ...describeReport(made), ...(onFork ? { activated: activate } : {}) };
  if (dryRun) return { report, change: null };
  verifyCoverage({
    turnCount: tree.turnOids.length,
    turns: planned.turns,
    compactions: [...planned.live.applied, compaction],
  });
  return { report, change: changeOf(workspace, compaction, planned) };
}

async function extractNotesOf(
  workspace: Workspace,
  planned: PlannedCompaction,
  { model, request }: { readonly model: string | undefined; readonly request: CompactRequest },
): Promise<readonly string[]> {
  if (model !== EXTRACTIVE) return [];
  return extractNotes(workspace, planned, { model, asked: request });
}

function changeOf(workspace: Workspace, compaction: Compaction, planned: PlannedCompaction): PlannedChange {
  const { turns, live, before, after, meter } = planned;
  const givenBack = describeRestored(compaction, { turns, compactions: live.applied, before, after });
  const changes = largestChanges({ before, after, meter }, new Set([DRAFT_ID]));
  return {
    message: compactionMessage({ compaction, hidden: hiddenBy(compaction, planned), restored: givenBack, changes }),
    changes: [recordChange(workspace, "compactions", compaction)],
    sign: true,
  };
}

async function reload(workspace: Workspace, tree: BranchTree): Promise<BranchTree> {
  const tip = await workspace.store.readBranch(tree.branch);
  return tip === null || tip === tree.commit ? tree : loadBranchTree(workspace.store, tree.branch, tip);
}

/** Gives a draft its id, time, digest and token counts. Throws `range_changed` when the covered turns are not those expected. */
async function completeDraft(
  workspace: Workspace,
  tree: BranchTree,
  planned: PlannedCompaction,
  { expects, live }: Pick<CompactRequest, "expects" | "live">,
): Promise<Compaction> {
  const draft = planned.plan.compaction;
  const expected = expects?.covers;
  const covers = await coversDigest(draft, coverFacts(workspace.store, tree));
  if (expected !== undefined && covers !== expected) {
    throw userError(
      "range_changed",
      `The summary was not written for turns ${draft.from_turn}..${draft.to_turn} of ${tree.branch} as they are now.`,
      {
        hints: [
          "`jpg compact --emit FILE` writes a new bundle; have the summary written again from that.",
          "Nothing was committed.",
        ],
      },
    );
  }
  const { before, after } = planned.tokens;
  const inject = planned.config.conversation.compaction.inject ?? usualInjection(draft);
  const summary = draft.summary === undefined || inject === "pair" ? {} : { summary: { inject, ...draft.summary } };
  return {
    ...draft,
    ...summary,
    id: randomId(workspace.runtime),
    timestamp: timestampAfter(
      workspace.runtime.now(),
      planned.live.all.map((compaction) => compaction.timestamp),
    ),
    ...(covers === null ? {} : { covers }),
    stats: {
      ...draft.stats,
      keep_recent: messagesAfter(planned.turns, planned.before)(draft),
      kept_turns: tree.turnOids.length - 1 - draft.to_turn,
      ...(before === 0 ? {} : { compression_ratio: Math.round((1 - after / before) * 1000) / 1000 }),
      tokens: { before, after },
      ...(planned.plan.summarize === undefined ? { events_removed: Math.max(0, eventsRemoved(planned)) } : {}),
    },
    metadata: live === undefined ? draft.metadata : { ...draft.metadata, live },
  };
}

/**
 * Returns the default injection: one system message where jpg or a model decided (Compaction v2), a request and its answer where
 * the user did (RFD 064).
 */
function usualInjection({ source }: CompactionDraft): Injection {
  return source === "auto" || source === "agent" ? "system" : "pair";
}

/** Returns a function that counts the messages a view shows after a range, including the rest of the range's last turn. */
export function messagesAfter(
  turns: PlannedCompaction["turns"],
  { turns: shown }: View,
): (range: CompactionDraft) => number {
  const positions = [...new Set(shown.flatMap(({ origin }) => (origin.kind === "kept" ? [origin.turn] : [])))];
  const messagesOf = (turn: number): readonly Event[] => turns.get(turn)?.events.filter(isMessage) ?? [];
  return ({ to_turn, to_event }) => {
    const events = turns.get(to_turn)?.events ?? [];
    const own = to_event === undefined ? [] : events.slice(events.findIndex(({ id }) => id === to_event) + 1);
    const later = positions.filter((turn) => turn > to_turn).flatMap(messagesOf);
    return own.filter(isMessage).length + later.length;
  };
}

/** Adds the loss receipt, except for a summary that is not written yet. */
function withReceipt(compaction: Compaction, { plan, turns, before, after, pinned }: PlannedCompaction): Compaction {
  if (plan.summarize !== undefined) return compaction;
  const receipt = lossOf(compaction, { turns, before, after, pins: pinned });
  return { ...compaction, receipt };
}

interface SummaryCheck {
  readonly compaction: Compaction;
  /** At least the covered turns. */
  readonly turns: PlannedCompaction["turns"];
  /** Throw if anything is ungrounded. */
  readonly strict: boolean;
}

/**
 * Lists what a summary claims and its events do not support. Reads attachments of the events from the tree of `commit`. Throws
 * `ungrounded` if `strict`, and `attachment_missing`.
 */
export async function checkSummary(
  { store }: Pick<Workspace, "store">,
  { commit }: Pick<BranchTree, "commit">,
  { compaction, turns, strict }: SummaryCheck,
): Promise<readonly Ungrounded[]> {
  if (compaction.summary === undefined) return [];
  const raw = (await readCovered(store, commit, { compaction, turns })).map(({ event }) => event);
  const found = checkGrounding(withoutLedger(compaction.summary.summary), raw);
  if (found.length === 0 || !strict) return found;
  const named = found.slice(0, MOST_NAMED).map(({ kind, text }) => `${kind} ${JSON.stringify(text)}`);
  throw userError(
    "ungrounded",
    `The summary says ${found.length} things that turns ${compaction.from_turn}..${compaction.to_turn} do not say: ${named.join(", ")}${found.length > MOST_NAMED ? ", …" : ""}.`,
    {
      hints: ["Correct the summary, or leave out --strict to store it as it is.", "Nothing was committed."],
      data: { ungrounded: found },
    },
  );
}

/** Findings that an error names; the rest is only counted. */
const MOST_NAMED = 5;
