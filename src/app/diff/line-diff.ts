// The line diff of two texts: the shortest edit script while that is cheap, else the differing middle is replaced as a whole. The
// result depends only on the arguments, never on the machine's speed.
import { diffArrays } from "diff";
import { appendAll } from "../../core/lists.ts";
import { longestIncreasing, type Places } from "./view-text.ts";

/** Lines of both texts, or of one. `removed` comes before `added`. */
export interface LineRun {
  readonly kind: "same" | "removed" | "added";
  /** Never empty. */
  readonly lines: readonly string[];
}

/** Work that may still be spent, shared by all diffs of one view; one step = one point of the edit graph. */
export interface DiffBudget {
  steps: number;
}

/** Edits above which two texts have too little in common for a shortest script to help a reader. */
const MOST_EDITS = 800;
/** Steps of a shortest script over a whole view: some tens of milliseconds. */
const STEPS_PER_VIEW = 600_000;

export function createDiffBudget(steps: number = STEPS_PER_VIEW): DiffBudget {
  return { steps };
}

/** Diffs two texts given as lines. Joining the `same` and `added` runs gives `after`; `same` and `removed`, `before`. */
export function diffLines(
  before: readonly string[],
  after: readonly string[],
  budget: DiffBudget = createDiffBudget(),
): LineRun[] {
  const { head, tail } = commonEnds(before, after);
  const removed = before.slice(head, before.length - tail);
  const added = after.slice(head, after.length - tail);
  return mergeRuns([
    { kind: "same", lines: before.slice(0, head) },
    ...diffMiddle(removed, added, budget),
    { kind: "same", lines: before.slice(before.length - tail) },
  ]);
}

/** Counts the equal items at both ends of two lists; the two counts never overlap. */
export function commonEnds(before: readonly string[], after: readonly string[]): { head: number; tail: number } {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  return { head, tail };
}

/** Computes the edit script of two lists of tokens; null when it is longer than the budget allows. */
function editScript(
  before: readonly string[],
  after: readonly string[],
  budget: DiffBudget,
): { kind: LineRun["kind"]; tokens: readonly string[] }[] | null {
  const maxEditLength = Math.min(MOST_EDITS, Math.floor(Math.sqrt(budget.steps)));
  const changes = diffArrays([...before], [...after], { maxEditLength });
  const edits = changes?.reduce((sum, change) => sum + (change.added || change.removed ? change.count : 0), 0);
  budget.steps = Math.max(0, budget.steps - (edits ?? maxEditLength) ** 2);
  if (changes === undefined) return null;
  return changes.map((change) => ({
    kind: change.added ? "added" : change.removed ? "removed" : "same",
    tokens: change.value,
  }));
}

/** Diffs texts whose ends differ: splits them at lines that occur once in each (patience diff), then diffs each part. */
function diffMiddle(before: readonly string[], after: readonly string[], budget: DiffBudget): LineRun[] {
  const runs: LineRun[] = [];
  let i = 0;
  let j = 0;
  for (const [left, right] of [...uniqueLines(before, after), [before.length, after.length] as const]) {
    appendAll(runs, diffGap(before.slice(i, left), after.slice(j, right), budget));
    runs.push({ kind: "same", lines: before.slice(left, left + 1) });
    i = left + 1;
    j = right + 1;
  }
  return runs;
}

function diffGap(before: readonly string[], after: readonly string[], budget: DiffBudget): LineRun[] {
  const replaced: LineRun[] = [
    { kind: "removed", lines: before },
    { kind: "added", lines: after },
  ];
  if (before.length === 0 || after.length === 0 || !shareLines(before, after)) return replaced;
  const script = editScript(before, after, budget);
  return script === null ? replaced : script.map(({ kind, tokens }) => ({ kind, lines: tokens }));
}

/** Finds the lines that occur exactly once in each text and keep their order, as many as possible. Blank lines do not count. */
function uniqueLines(before: readonly string[], after: readonly string[]): Places[] {
  if (Math.min(before.length, after.length) <= FEW_LINES) return [];
  const places = placesOf(after);
  const own = placesOf(before);
  const shared: Places[] = [];
  for (const [line, left] of own) {
    const right = places.get(line) ?? TWICE;
    if (left !== TWICE && right !== TWICE && line.trim() !== "") shared.push([left, right]);
  }
  return longestIncreasing(shared);
}

const TWICE = -1;

function placesOf(lines: readonly string[]): Map<string, number> {
  const places = new Map<string, number>();
  for (const [index, line] of lines.entries()) places.set(line, places.has(line) ? TWICE : index);
  return places;
}

/** Texts with at most this many lines are compared without an index. */
const FEW_LINES = 8;

/**
 * Returns whether two texts share a line. Blank lines do not count: texts that share only those are better shown one after the
 * other.
 */
function shareLines(before: readonly string[], after: readonly string[]): boolean {
  const [fewer, more] = before.length < after.length ? [before, after] : [after, before];
  const sought = fewer.filter((line) => line.trim() !== "");
  if (sought.length <= FEW_LINES) return more.some((line) => sought.includes(line));
  const known = new Set(sought);
  return more.some((line) => known.has(line));
}

/** Drops empty runs, joins adjacent runs of a kind, and puts removed lines before added ones at the same place. */
function mergeRuns(runs: readonly LineRun[]): LineRun[] {
  const merged: LineRun[] = [];
  const pending: Record<LineRun["kind"], (readonly string[])[]> = { same: [], removed: [], added: [] };
  const flush = (...kinds: readonly LineRun["kind"][]): void => {
    for (const kind of kinds) {
      if (pending[kind].length > 0)
        merged.push({ kind, lines: pending[kind].length === 1 ? (pending[kind][0] ?? []) : pending[kind].flat() });
      pending[kind] = [];
    }
  };
  for (const { kind, lines } of runs) {
    if (lines.length === 0) continue;
    if (kind === "same") flush("removed", "added");
    else flush("same");
    pending[kind].push(lines);
  }
  flush("same", "removed", "added");
  return merged;
}

// The word diff of two lines: finds the stretches that differ. Tokens are words, blanks and single characters; a stretch that is
// too long to compare by words is marked as a whole.

/** A stretch of a line in UTF-16 units: first unit, and the one after the last. */
export type WordRange = readonly [start: number, end: number];

/** The differing stretches of two lines, ordered, not adjacent. */
interface WordRanges {
  readonly before: readonly WordRange[];
  readonly after: readonly WordRange[];
}

/** Share of the longer line that must be common; below it the marks would cover nearly everything. */
const LEAST_COMMON_SHARE = 0.3;
/** Steps that each pair of lines costs at least. */
const STEPS_PER_PAIR = 40;
/** UTF-16 units of a differing middle above which it is marked as one stretch. */
const LONGEST_MIDDLE = 2000;

/** Finds the stretches that differ; null when the lines have too little in common or the budget is spent. */
export function diffWords(before: string, after: string, budget: DiffBudget): WordRanges | null {
  if (budget.steps < STEPS_PER_PAIR) return null;
  budget.steps -= STEPS_PER_PAIR;
  const [start, tail] = commonWords(before, after);
  const left = before.slice(start, before.length - tail);
  const right = after.slice(start, after.length - tail);
  const script = middleScript(left, right, budget);
  const ranges = { before: rangesOf(script, "removed", start), after: rangesOf(script, "added", start) };
  return isInformative(ranges, before.trimStart().length, after.trimStart().length) ? ranges : null;
}

/** Returns the lengths that the lines share at both ends, cut at word boundaries. */
function commonWords(before: string, after: string): readonly [head: number, tail: number] {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before.charCodeAt(head) === after.charCodeAt(head)) head++;
  while (head > 0 && (isInside(before, head) || isInside(after, head))) head--;
  let tail = 0;
  while (
    tail < most - head &&
    before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail)
  )
    tail++;
  while (tail > 0 && (isInside(before, before.length - tail) || isInside(after, after.length - tail))) tail--;
  return [head, tail];
}

const WORD_PAIR = /^(?:[\p{L}\p{N}_]{2}|\s{2})$/u;
const SURROGATE_PAIR = /^[\ud800-\udbff][\udc00-\udfff]$/;

/** Returns whether a position is inside a token. */
function isInside(line: string, position: number): boolean {
  const around = line.slice(position - 1, position + 1);
  return WORD_PAIR.test(around) || SURROGATE_PAIR.test(around);
}

interface Step {
  readonly kind: "same" | "removed" | "added";
  readonly tokens: readonly string[];
}

function middleScript(before: string, after: string, budget: DiffBudget): readonly Step[] {
  const replaced: Step[] = [
    { kind: "removed", tokens: [before] },
    { kind: "added", tokens: [after] },
  ];
  if (before.length > LONGEST_MIDDLE || after.length > LONGEST_MIDDLE) return replaced;
  const left = tokenize(before);
  const right = tokenize(after);
  if (left.length <= 1 || right.length <= 1) return replaced;
  return editScript(left, right, budget) ?? replaced;
}

function tokenize(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

function rangesOf(script: readonly Step[], kind: "removed" | "added", start: number): WordRange[] {
  const ranges: WordRange[] = [];
  let at = start;
  for (const step of script) {
    if (step.kind !== kind && step.kind !== "same") continue;
    const end = at + step.tokens.reduce((sum, token) => sum + token.length, 0);
    const last = ranges.at(-1);
    if (step.kind === kind && end > at) {
      if (last?.[1] === at) ranges[ranges.length - 1] = [last[0], end];
      else ranges.push([at, end]);
    }
    at = end;
  }
  return ranges;
}

function isInformative(ranges: WordRanges, beforeLength: number, afterLength: number): boolean {
  const changed = (list: readonly WordRange[]): number => list.reduce((sum, [start, end]) => sum + end - start, 0);
  const longer = Math.max(beforeLength, afterLength);
  const common = Math.min(beforeLength - changed(ranges.before), afterLength - changed(ranges.after));
  return longer > 0 && common / longer >= LEAST_COMMON_SHARE;
}
