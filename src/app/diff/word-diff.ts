// The word diff of two lines: which stretches of each differ. Words, blanks and single signs are the tokens; a stretch
// that is too long to compare word by word is marked as a whole.
import { type DiffBudget, editScript } from "./line-diff.ts";

/** A stretch of a line in UTF-16 units: first unit, and the one after the last. */
export type WordRange = readonly [start: number, end: number];

/** The differing stretches of two lines, ordered, not touching each other. */
export interface WordRanges {
  readonly before: readonly WordRange[];
  readonly after: readonly WordRange[];
}

/** Share of the longer line that must be common; below it a marking would cover nearly everything. */
const LEAST_COMMON_SHARE = 0.3;
/** Steps of the budget that a pair of lines takes, whatever is found in it. */
const STEPS_PER_PAIR = 40;
/** UTF-16 units of a differing middle beyond which it is marked as one stretch. */
const LONGEST_MIDDLE = 2000;

/** Finds the stretches that differ, or null when the lines have too little in common or the budget is spent. */
export function diffWords(before: string, after: string, budget: DiffBudget): WordRanges | null {
  if (budget.steps < STEPS_PER_PAIR) return null;
  budget.steps -= STEPS_PER_PAIR;
  const [start, tail] = commonWords(before, after);
  const left = before.slice(start, before.length - tail);
  const right = after.slice(start, after.length - tail);
  const script = middleScript(left, right, budget);
  const ranges = { before: rangesOf(script, "removed", start), after: rangesOf(script, "added", start) };
  return isTelling(ranges, before.trimStart().length, after.trimStart().length) ? ranges : null;
}

/** Lengths of what the lines share at both ends, cut at the bounds of words. */
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

/** Whether a position lies inside a token. */
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

function isTelling(ranges: WordRanges, beforeLength: number, afterLength: number): boolean {
  const changed = (list: readonly WordRange[]): number => list.reduce((sum, [start, end]) => sum + end - start, 0);
  const longer = Math.max(beforeLength, afterLength);
  const common = Math.min(beforeLength - changed(ranges.before), afterLength - changed(ranges.after));
  return longer > 0 && common / longer >= LEAST_COMMON_SHARE;
}
