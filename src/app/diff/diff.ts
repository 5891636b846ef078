// Diffs what the model sees: before and after one compaction, or between two revisions.
import { type LostFacts, lostFacts } from "../../core/compact/lost-facts.ts";
import type { Compaction, LossReceipt } from "../../core/conversation/compaction.ts";
import { recordPath } from "../../core/conversation/compaction-line.ts";
import type { TurnRange, View } from "../../core/conversation/event.ts";
import { abbreviateCommit, conversationOf } from "../../core/conversation/name.ts";
import type { WrittenRange } from "../../core/conversation/range-bound.ts";
import { JpgError, userError } from "../../core/errors.ts";
import type { DiffMeasure } from "../../core/model/token-meter.ts";
import type { LogEntry } from "../../store/store.ts";
import { compactionIdOfPath, findAddition, groupPaths } from "../conversation/append.ts";
import { loadCountedMinimal } from "../conversation/counted-view.ts";
import { requireWholeHistory } from "../conversation/fork-start.ts";
import { findSquashed, newestLive, readRecordLog } from "../conversation/log.ts";
import { type BranchTree, loadBranchTree } from "../conversation/tree.ts";
import { type KnownTurns, type LiveCompactions, loadCompactions, loadHistory, loadView } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { isWithinTurns, resolveTurns } from "../conversation/written-range.ts";
import { resolveId, resolveTree, treeOfTarget } from "../names/resolve-id.ts";
import { resolveBranchRevision } from "../names/revision.ts";
import { wordFor } from "../names/short-names.ts";
import { buildHunks, type DiffHunk, type DiffRun } from "./diff-hunks.ts";
import { countDiff, type DiffStat, isChanged } from "./diff-stat.ts";
import { createDiffBudget, type DiffBudget, diffLines, diffWords, type LineRun } from "./line-diff.ts";
import {
  alignBlocks,
  type BlockPair,
  contentLines,
  originLabel,
  type RenderedEvents,
  type TextBlock,
  viewBlocks,
} from "./view-text.ts";

/**
 * Diffs what the arguments name: nothing, ID, COMPACTION, REV..REV, or ID with one of the last two; with `range` only those turns
 * of the conversation. Throws `no_compaction`, `bad_turns`.
 */
export async function diffConversation(
  workspace: Workspace,
  words: readonly string[],
  { range, ...given }: ViewDiffOptions & { readonly range?: WrittenRange },
): Promise<DiffReport> {
  const optionsFor = async (tree: BranchTree): Promise<ViewDiffOptions> =>
    range === undefined ? given : { ...given, turns: await resolveTurns(workspace, tree, range) };
  const [first, second] = words;
  const what = second ?? (first?.includes("..") === true ? first : undefined);
  const id = second === undefined && what !== undefined ? undefined : first;
  if (what?.includes("..") === true) {
    const tree = await resolveTree(workspace, id);
    return diffRevisions(workspace, tree, what, await optionsFor(tree));
  }
  if ((what ?? id ?? "@") === "@") {
    const tree = await resolveTree(workspace);
    return diffNewest(workspace, tree, await optionsFor(tree));
  }
  const target = await resolveId(
    workspace,
    what ?? id,
    what === undefined ? ["branch", "compaction", "commit"] : ["compaction", "commit"],
  );
  const tree = await treeOfTarget(workspace, target, what ?? id);
  const options = await optionsFor(tree);
  if (target.kind === "branch") return diffNewest(workspace, tree, options);
  if (target.kind === "commit") return diffCommit(workspace, tree, target.commit, options);
  const compaction = target.kind === "compaction" ? target.compaction : "";
  return diffAddition(workspace, tree, await additionOf(workspace, tree, compaction), options);
}

/** Diffs the newest live compaction in commit order; if there is none, the full history and the view. */
async function diffNewest(workspace: Workspace, tree: BranchTree, options: ViewDiffOptions): Promise<DiffReport> {
  const live = new Set(tree.compactions.map((file) => file.path));
  const newest = newestLive(await readCompactions(workspace, tree), live);
  if (newest !== null) return diffAddition(workspace, tree, newest, options);
  const known: KnownTurns = new Map();
  const history = await loadHistory(workspace.store, tree, { known });
  const now = await loadView(workspace.store, tree, { known });
  const measure = await measureFor(workspace, tree, { before: [], after: now.live.applied, known });
  return {
    from: `${tree.branch} (full history)`,
    to: `${tree.branch} (view)`,
    ...diffViews(history, now.view, { ...options, measure }),
  };
}

/**
 * Diffs a compaction's commit with its parent; for a squashed commit, the tree without and with the compaction, on top of the older
 * ones.
 */
async function diffAddition(
  workspace: Workspace,
  tree: BranchTree,
  { entry, path }: { readonly entry: LogEntry; readonly path: string },
  options: ViewDiffOptions,
): Promise<DiffReport> {
  const { store } = workspace;
  if (!(await findSquashed(store, [entry])).has(entry.commit))
    return diffCommit(workspace, tree, entry.commit, options);
  const there = await loadBranchTree(store, tree.branch, entry.commit);
  const { all } = await loadCompactions(store, there);
  const own = new Set((await groupPaths(workspace, there, { all }))(path));
  // Names of records begin with their time, so they sort by age.
  const upTo = (includes: boolean): BranchTree => ({
    ...there,
    compactions: there.compactions.filter((file) => (own.has(file.path) ? includes : file.path < path)),
  });
  const known: KnownTurns = new Map();
  const [before, after] = [await loadView(store, upTo(false), { known }), await loadView(store, upTo(true), { known })];
  const id = compactionIdOfPath(path) ?? path;
  const isOwn = (compaction: Compaction): boolean =>
    own.has(recordPath("compactions", compaction.timestamp, compaction.id));
  const group = after.live.all.filter(isOwn);
  const loss = group.find(({ receipt }) => receipt !== undefined)?.receipt;
  const measure = await measureFor(workspace, there, {
    before: before.live.applied,
    after: after.live.applied,
    known,
  });
  return {
    from: `before compaction ${id}`,
    to: `compaction ${id} (squashed in ${abbreviateCommit(entry.commit, 7)})`,
    ...diffViews(before.view, after.view, { ...options, measure }),
    loss,
    lost: lostFacts(before.view, after.view, group),
  };
}

async function diffCommit(
  workspace: Workspace,
  tree: BranchTree,
  commit: string,
  options: ViewDiffOptions,
): Promise<DiffReport> {
  const entry = (await readCompactions(workspace, tree)).find((candidate) => candidate.commit === commit);
  const parent = entry === undefined ? await workspace.store.resolveCommit(`${commit}~1`) : (entry.parents[0] ?? null);
  if (parent === null) await requireWholeHistory(workspace.store, commit);
  const there = await loadBranchTree(workspace.store, tree.branch, commit);
  const added = new Set(entry?.added.map(compactionIdOfPath));
  const { diff, before, after, live } = await diffWithParent(workspace, there, parent, options);
  const group = live.all.filter(({ id }) => added.has(id));
  return {
    ...nameSides(entry, { parent, commit }),
    ...diff,
    loss: group.find(({ receipt }) => receipt !== undefined)?.receipt,
    lost: group.length === 0 ? undefined : lostFacts(before, after, group),
  };
}

interface Sides {
  /** Compactions of each side. */
  readonly before: readonly Compaction[];
  readonly after: readonly Compaction[];
  /** Turns already read for them. */
  readonly known?: KnownTurns;
}

/** Returns the measure for both sides: that of `compact` and `stats` for the later one. */
async function measureFor(
  { store }: Pick<Workspace, "store">,
  tree: BranchTree,
  { before, after, known }: Sides,
): Promise<DiffMeasure> {
  const { meter } = await loadCountedMinimal(store, tree, [], known);
  return {
    factor: meter.factor,
    overhead: { before: meter.overheadUnder(before), after: meter.overheadUnder(after) },
  };
}

/** Compares the view at a commit with that of its parent; also returns the compactions at the commit. */
async function diffWithParent(
  workspace: Workspace,
  there: BranchTree,
  parent: string | null,
  options: ViewDiffOptions,
): Promise<{
  readonly diff: ViewDiff;
  readonly before: View;
  readonly after: View;
  readonly live: LiveCompactions;
}> {
  const { store } = workspace;
  const older = parent === null ? null : await loadBranchTree(store, there.branch, parent);
  const known: KnownTurns = new Map();
  const { view: after, live } = await loadView(store, there, { known });
  const earlier = older === null ? null : await loadView(store, older, { known });
  const before = earlier?.view ?? { turns: [] };
  const measure = await measureFor(workspace, there, {
    before: earlier?.live.applied ?? [],
    after: live.applied,
    known,
  });
  return { diff: diffViews(before, after, { ...options, measure }), before, after, live };
}

/** Names the two sides of a commit, e.g. `compaction 3jf5xk (82d0188)`. */
function nameSides(
  entry: LogEntry | undefined,
  { parent, commit }: { readonly parent: string | null; readonly commit: string },
): Pick<DiffReport, "from" | "to"> {
  const [left, right] = [parent === null ? "nothing" : abbreviateCommit(parent, 7), abbreviateCommit(commit, 7)];
  const ids = (paths: readonly string[] = []): string =>
    paths.flatMap((path) => compactionIdOfPath(path) ?? []).join(", ");
  const [added, removed] = [ids(entry?.added), ids(entry?.removed)];
  const change = added !== "" ? `compaction ${added}` : removed !== "" ? `revert of compaction ${removed}` : null;
  if (change === null) return { from: left, to: right };
  return { from: `before ${change} (${left})`, to: `${change} (${right})` };
}

function readCompactions(workspace: Workspace, tree: BranchTree): Promise<readonly LogEntry[]> {
  return readRecordLog(workspace.store, tree.commit);
}

async function diffRevisions(
  workspace: Workspace,
  tree: BranchTree,
  range: string,
  options: ViewDiffOptions,
): Promise<DiffReport> {
  const [left = "", right = ""] = range.split(/\.\.\.?/, 2);
  // In sequence, so that the error names the first of two wrong revisions.
  const known: KnownTurns = new Map();
  const before = await loadView(workspace.store, await revisionTree(workspace, tree, left), { known });
  const later = await revisionTree(workspace, tree, right);
  const after = await loadView(workspace.store, later, { known });
  const measure = await measureFor(workspace, later, {
    before: before.live.applied,
    after: after.live.applied,
    known,
  });
  return {
    from: left === "" ? tree.branch : left,
    to: right === "" ? tree.branch : right,
    ...diffViews(before.view, after.view, { ...options, measure }),
  };
}

/** Resolves a commit, a fork of this conversation, or another conversation; empty = the branch itself. */
async function revisionTree(workspace: Workspace, tree: BranchTree, revision: string): Promise<BranchTree> {
  if (revision === "") return tree;
  const options = { conversation: conversationOf(tree.branch), bareForks: true };
  const found = await resolveBranchRevision(workspace, revision, options);
  if (found !== null) return loadBranchTree(workspace.store, found.branch, found.commit);
  try {
    return await resolveTree(workspace, revision);
  } catch (error) {
    if (error instanceof JpgError && error.code === "turn_number") throw error;
    throw userError("unknown_revision", `${revision} is not a commit, branch or conversation.`, {
      hints: ["`jpg log` and `jpg git log` list commits, `jpg ls --branches` branches."],
      cause: error,
    });
  }
}

async function additionOf(
  workspace: Workspace,
  tree: BranchTree,
  compaction: string,
): Promise<{ readonly entry: LogEntry; readonly path: string }> {
  const adding = findAddition(await readCompactions(workspace, tree), compaction);
  if (adding === null)
    throw userError("not_a_compaction", `${compaction} is not in the history of ${tree.branch}.`, {
      hints: [`\`jpg log${await wordFor(workspace, tree.branch)}\` lists its compactions.`],
    });
  return adding;
}

// The diff of two views. Events are paired by id, and only those that read differently are compared as text. Applying the hunks to
// the text of `before` gives the text of `after`.

/** Differences between two views; no hunks when a model sees the same. */
export interface ViewDiff {
  readonly hunks: readonly DiffHunk[];
  readonly stat: DiffStat;
}

/** The JSON document of `jpg diff --json`. */
export interface DiffReport extends ViewDiff {
  /** What was compared, as a person would type it, e.g. a commit. */
  readonly from: string;
  readonly to: string;
  /** Loss receipt of the compaction that makes the difference, if it has one. */
  readonly loss?: LossReceipt;
  /** What the model no longer sees because of it, by name; absent if no compaction makes the difference. */
  readonly lost?: readonly LostFacts[];
}

interface ViewDiffOptions {
  /** Unchanged lines around a change; default 3. */
  readonly context?: number;
  /** Whether to mark the differing words of changed lines; default true. */
  readonly words?: boolean;
  /** Default: the plain estimate of events. */
  readonly measure?: DiffMeasure;
  /** Compares only these turns, and what stands for them; default all. */
  readonly turns?: TurnRange;
}

/** Compares what a model sees in two views. */
export function diffViews(
  before: View,
  after: View,
  { context = 3, words = true, measure, turns }: ViewDiffOptions = {},
): ViewDiff {
  const only = (view: View): View =>
    turns === undefined ? view : { ...view, turns: view.turns.filter((turn) => isWithinTurns(turn, turns)) };
  const { pairs, changed } = alignViews(only(before), only(after));
  const budget = createDiffBudget();
  const runs = pairs.flatMap((pair) => (changed.has(pair) ? changedRuns(pair, budget, words) : unchangedRuns(pair)));
  return {
    hunks: changed.size === 0 ? [] : buildHunks(runs, context),
    stat: countDiff(pairs, changed, measure),
  };
}

/** Pairs the blocks of both views, and finds the pairs that read differently. */
function alignViews(
  before: View,
  after: View,
): { readonly pairs: readonly BlockPair[]; readonly changed: ReadonlySet<BlockPair> } {
  const rendered: RenderedEvents = new Map();
  const pairs = alignBlocks(viewBlocks(before, rendered), viewBlocks(after, rendered));
  return { pairs, changed: new Set(pairs.filter(isChanged)) };
}

function unchangedRuns({ before }: BlockPair): DiffRun[] {
  return before === null ? [] : wholeBlock(before, "same");
}

function changedRuns({ before, after }: BlockPair, budget: DiffBudget, words: boolean): DiffRun[] {
  if (before === null) return after === null ? [] : wholeBlock(after, "added");
  if (after === null) return wholeBlock(before, "removed");
  const headings = markWords(diffLines([before.heading], [after.heading], budget), budget, words);
  const contents = diffLines(contentLines(before.content), contentLines(after.content), budget);
  return [
    ...headings.map((run) => runOf(after, run, true)),
    ...markWords(contents, budget, words).map((run) => runOf(after, run, false)),
  ];
}

function wholeBlock(block: TextBlock, kind: LineRun["kind"]): DiffRun[] {
  const heading = runOf(block, { kind, lines: [block.heading] }, true);
  const { content } = block;
  if (content === null) return [heading];
  return [heading, { ...heading, heading: false, count: countLines(content), lines: () => contentLines(content) }];
}

function countLines(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

type MarkedRun = LineRun & Pick<DiffRun, "words">;

function runOf(block: TextBlock, { kind, lines, words }: MarkedRun, heading: boolean): DiffRun {
  return {
    kind,
    turn: originLabel(block.origin),
    event: block.event?.id ?? null,
    title: block.title,
    heading,
    count: lines.length,
    lines: () => lines,
    words,
  };
}

/** Marks the differing words of each removed line and the added line at the same place in the next run. */
function markWords(runs: readonly LineRun[], budget: DiffBudget, words: boolean): readonly MarkedRun[] {
  if (!words) return runs;
  const marked: MarkedRun[] = [...runs];
  runs.forEach((removed, index) => {
    const added = runs[index + 1];
    if (removed.kind !== "removed" || added?.kind !== "added" || !isSimilarLength(removed, added)) return;
    const pairs = Array.from({ length: Math.min(removed.lines.length, added.lines.length) }, (_, line) =>
      diffWords(removed.lines[line] ?? "", added.lines[line] ?? "", budget),
    );
    marked[index] = { ...removed, words: pairs.map((pair) => pair?.before ?? null) };
    marked[index + 1] = { ...added, words: pairs.map((pair) => pair?.after ?? null) };
  });
  return marked;
}

/** Returns whether both sides have a similar number of lines; a stub that replaces a long text is not an edit of it. */
function isSimilarLength({ lines: removed }: LineRun, { lines: added }: LineRun): boolean {
  return Math.max(removed.length, added.length) <= 2 * Math.min(removed.length, added.length);
}
