// The line diff of two texts: shortest edit script while it is cheap, else the differing middle replaced as a whole. It
// depends on its arguments only, never on how fast the machine is.
import { diffArrays } from "diff";
import { appendAll } from "../../core/lists.ts";
import { longestRising, type Places } from "./longest-rising.ts";

/** Lines that both texts have, or only one. `removed` stands before `added`. */
export interface LineRun {
  readonly kind: "same" | "removed" | "added";
  /** Never empty. */
  readonly lines: readonly string[];
}

/** How much work may still be spent, shared by all diffs of one view; one step = one point of the edit graph. */
export interface DiffBudget {
  steps: number;
}

/** Edits beyond which two texts have too little in common for a shortest script to help a reader. */
const MOST_EDITS = 800;
/** Steps of a shortest script over a whole view: some tens of milliseconds. */
const STEPS_PER_VIEW = 600_000;

/** Creates the budget of one diff. */
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

/** Gives the edit script of two lists of tokens, or null when it is longer than the budget allows. */
export function editScript(
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

/** Diffs texts whose ends differ: between the lines that stand once in each (patience diff), then line by line. */
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

/** Places of the lines that stand exactly once in each text, as many as keep their order. Blank ones do not count. */
function uniqueLines(before: readonly string[], after: readonly string[]): Places[] {
  if (Math.min(before.length, after.length) <= FEW_LINES) return [];
  const places = placesOf(after);
  const own = placesOf(before);
  const shared: Places[] = [];
  for (const [line, left] of own) {
    const right = places.get(line) ?? TWICE;
    if (left !== TWICE && right !== TWICE && line.trim() !== "") shared.push([left, right]);
  }
  return longestRising(shared);
}

const TWICE = -1;

function placesOf(lines: readonly string[]): Map<string, number> {
  const places = new Map<string, number>();
  for (const [index, line] of lines.entries()) places.set(line, places.has(line) ? TWICE : index);
  return places;
}

/** Texts of so few lines are compared line by line: most comparisons end at the length. */
const FEW_LINES = 8;

/** Blank lines do not count: texts that share only those are better shown one after the other. */
function shareLines(before: readonly string[], after: readonly string[]): boolean {
  const [fewer, more] = before.length < after.length ? [before, after] : [after, before];
  const sought = fewer.filter((line) => line.trim() !== "");
  if (sought.length <= FEW_LINES) return more.some((line) => sought.includes(line));
  const known = new Set(sought);
  return more.some((line) => known.has(line));
}

/** Drops empty runs, joins neighbours of a kind and puts what is removed at one place before what is added there. */
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
