// The diff of two views: what a model sees before and after. Events are paired by id, and only those that read
// differently are compared as text. Applying the hunks to the text of `before` gives the text of `after`.
import type { LossReceipt } from "../../core/conversation/compaction.ts";
import type { View } from "../../core/conversation/event.ts";
import { defined } from "../../core/json.ts";
import type { DiffMeasure } from "../../core/model/token-meter.ts";
import { buildHunks, type DiffHunk, type DiffRun } from "./diff-hunks.ts";
import { countDiff, type DiffCounting, type DiffStat, isChanged } from "./diff-stat.ts";
import { createDiffBudget, type DiffBudget, diffLines, type LineRun } from "./line-diff.ts";
import { alignBlocks, type BlockPair } from "./view-alignment.ts";
import { contentLines, originLabel, type RenderedEvents, type TextBlock, viewBlocks } from "./view-text.ts";
import { diffWords } from "./word-diff.ts";

/** What differs between two views; no hunks when a model sees the same. */
export interface ViewDiff {
  readonly hunks: readonly DiffHunk[];
  readonly stat: DiffStat;
}

/** The JSON document of `jpg diff --json`. */
export interface DiffReport extends ViewDiff {
  /** What was compared, as a person would write it, e.g. a commit. */
  readonly from: string;
  readonly to: string;
  /** Loss receipt of the compaction that makes the difference, where one does and has it. */
  readonly loss?: LossReceipt;
}

/** How a diff is made. */
export interface ViewDiffOptions {
  /** Unchanged lines around a change; default 3. */
  readonly context?: number;
  /** Whether changed lines carry the words that differ; default true. */
  readonly words?: boolean;
  /** Default: the plain estimate of the events. */
  readonly measure?: DiffMeasure;
}

/** Compares what a model sees of two views. */
export function diffViews(
  before: View,
  after: View,
  { context = 3, words = true, measure }: ViewDiffOptions = {},
): ViewDiff {
  const { pairs, changed } = alignViews(before, after);
  const budget = createDiffBudget();
  const runs = pairs.flatMap((pair) => (changed.has(pair) ? changedRuns(pair, budget, words) : unchangedRuns(pair)));
  return {
    hunks: changed.size === 0 ? [] : buildHunks(runs, context),
    stat: countDiff(pairs, changed, defined({ measure })),
  };
}

/** Counts what differs of what a model sees of two views. */
export function countViews(before: View, after: View, counting: DiffCounting): DiffStat {
  const { pairs, changed } = alignViews(before, after);
  return countDiff(pairs, changed, counting);
}

/** The blocks of both views side by side, and those pairs that read differently. */
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
    ...defined({ words }),
  };
}

/** Marks the differing words of each removed line and the added line at the same place of the run after it. */
function markWords(runs: readonly LineRun[], budget: DiffBudget, words: boolean): readonly MarkedRun[] {
  if (!words) return runs;
  const marked: MarkedRun[] = [...runs];
  runs.forEach((removed, index) => {
    const added = runs[index + 1];
    if (removed.kind !== "removed" || added?.kind !== "added" || !isLikeLong(removed, added)) return;
    const pairs = Array.from({ length: Math.min(removed.lines.length, added.lines.length) }, (_, line) =>
      diffWords(removed.lines[line] ?? "", added.lines[line] ?? "", budget),
    );
    marked[index] = { ...removed, words: pairs.map((pair) => pair?.before ?? null) };
    marked[index + 1] = { ...added, words: pairs.map((pair) => pair?.after ?? null) };
  });
  return marked;
}

/** Lines pair up only where about as many stand on both sides; a stub that replaces a long text is no edit of it. */
function isLikeLong({ lines: removed }: LineRun, { lines: added }: LineRun): boolean {
  return Math.max(removed.length, added.length) <= 2 * Math.min(removed.length, added.length);
}
