// Folds what nobody reads line by line: the middle of a long removed or added event, the middle events of a turn that
// went as a whole, the middle turns of many that did. Nothing is folded that would not become shorter by it.
import type { DiffHunk, HunkRun } from "../../app/diff/diff-hunks.ts";

/** Lines that are not shown. */
export interface FoldedLines {
  readonly kind: HunkRun["kind"];
  readonly count: number;
  /** Events they belong to. */
  readonly events: number;
}

/** Turns that are not shown. Positions are raw, 0-based, inclusive. */
export interface FoldedTurns {
  readonly kind: "removed" | "added";
  readonly turns: number;
  readonly from: number;
  readonly to: number;
  /** Lines in them. */
  readonly count: number;
}

/** First and last items shown of what is folded. */
interface Ends {
  readonly first: number;
  readonly last: number;
}

const LINES_OF_EVENT: Ends = { first: 8, last: 4 };
const EVENTS_OF_TURN: Ends = { first: 3, last: 2 };
const TURNS: Ends = { first: 3, last: 2 };

/** Folds the lines of a hunk. */
export function foldHunk(runs: readonly HunkRun[]): (HunkRun | FoldedLines)[] {
  return groupBy(runs, (a, b) => a.kind === b.kind).flatMap((group) => {
    const kind = group[0]?.kind ?? "same";
    if (kind === "same") return group;
    const events = groupBy(group, (a, b) => a.event === b.event);
    const { shown, hidden, rest } = splitMiddle(events, EVENTS_OF_TURN);
    const fold = hidden.length === 0 ? [] : [{ kind, count: countLines(hidden.flat()), events: hidden.length }];
    return [...shown.flat().flatMap(foldRun), ...fold, ...rest.flat().flatMap(foldRun)];
  });
}

/** Folds long successions of turns that were removed, or added, as a whole. */
export function foldHunks(hunks: readonly DiffHunk[]): (DiffHunk | FoldedTurns)[] {
  return groupBy(hunks, (a, b) => wholeKind(a) !== null && wholeKind(a) === wholeKind(b)).flatMap((run) => {
    const kind = run[0] === undefined ? null : wholeKind(run[0]);
    if (kind === null) return run;
    const { shown, hidden, rest } = splitMiddle(run, TURNS);
    if (hidden.length === 0) return run;
    const positions = hidden.map((hunk) => Number(/\d+/.exec(hunk.turn)?.[0] ?? 0));
    const count = countLines(hidden.flatMap((hunk) => hunk.runs));
    const [first = 0] = positions;
    const [from, to] = positions.reduce(
      ([least, most], at) => [Math.min(least, at), Math.max(most, at)],
      [first, first],
    );
    const fold = { kind, turns: hidden.length, from, to, count };
    return [...shown, fold, ...rest];
  });
}

function foldRun(run: HunkRun): (HunkRun | FoldedLines)[] {
  const { shown, hidden, rest } = splitMiddle(run.lines, LINES_OF_EVENT);
  if (hidden.length === 0) return [run];
  const { words, ...bare } = run;
  const head = { ...bare, lines: shown, ...(words === undefined ? {} : { words: words.slice(0, shown.length) }) };
  const tail = { ...bare, lines: rest, ...(words === undefined ? {} : { words: words.slice(-rest.length) }) };
  return [head, { kind: run.kind, count: hidden.length, events: 1 }, tail];
}

function countLines(runs: readonly HunkRun[]): number {
  return runs.reduce((sum, run) => sum + run.lines.length, 0);
}

/** Cuts the middle out when it is more than a few items; else everything is shown. */
function splitMiddle<T>(
  items: readonly T[],
  { first, last }: Ends,
): { shown: readonly T[]; hidden: readonly T[]; rest: readonly T[] } {
  if (items.length <= first + last + 2) return { shown: items, hidden: [], rest: [] };
  const end = items.length - last;
  return { shown: items.slice(0, first), hidden: items.slice(first, end), rest: items.slice(end) };
}

/** Says whether a hunk is one turn that was removed or added as a whole. */
function wholeKind({ event, runs, before, after }: DiffHunk): "removed" | "added" | null {
  if (event !== undefined || runs.length === 0) return null;
  return after.count === 0 ? "removed" : before.count === 0 ? "added" : null;
}

function groupBy<T>(items: readonly T[], belongs: (a: T, b: T) => boolean): T[][] {
  const groups: T[][] = [];
  for (const item of items) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group !== undefined && last !== undefined && belongs(last, item)) group.push(item);
    else groups.push([item]);
  }
  return groups;
}
