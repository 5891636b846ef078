// Cuts a diff into hunks with context, as `diff -u` numbers them. A hunk never reaches over the heading of a turn, so
// each one can be named after its turn and the first event that differs in it.
import { appendAll } from "../../core/lists.ts";
import type { WordRange } from "./word-diff.ts";

/** Lines of a hunk that fare alike and belong to one event, or the heading of one or of a turn. */
export interface HunkRun {
  readonly kind: "same" | "removed" | "added";
  /** Id of the event; absent for a turn. */
  readonly event?: string;
  /** The one line is a heading; content is indented under it when it is shown. */
  readonly heading?: true;
  /** Never empty. */
  readonly lines: readonly string[];
  /** Stretches of each of the first lines that differ from the line it was paired with; null = not compared. */
  readonly words?: readonly (readonly WordRange[] | null)[];
}

/** Where a hunk stands in one of the texts: first line, 1-based, or the line before it when it has none there. */
export interface HunkSide {
  readonly line: number;
  readonly count: number;
}

/** A stretch of differing lines with their context. */
export interface DiffHunk {
  readonly before: HunkSide;
  readonly after: HunkSide;
  /** Label of the turn, e.g. `turn 3`. */
  readonly turn: string;
  /** First event that differs; absent when the turn as a whole was removed or added. */
  readonly event?: string;
  /** What that event is, e.g. `tool result fs_read_file`. */
  readonly title?: string;
  readonly runs: readonly HunkRun[];
}

/** Lines of one block that fare alike; most of them are never looked at. */
export interface DiffRun {
  readonly kind: HunkRun["kind"];
  readonly turn: string;
  readonly event: string | null;
  readonly title: string;
  readonly heading: boolean;
  /** How many lines, at least one. */
  readonly count: number;
  lines(): readonly string[];
  readonly words?: HunkRun["words"];
}

interface Position {
  before: number;
  after: number;
}

/** Cuts runs into hunks with `context` unchanged lines around each change. */
export function buildHunks(runs: readonly DiffRun[], context: number): DiffHunk[] {
  const hunks: DiffHunk[] = [];
  const position: Position = { before: 0, after: 0 };
  for (const turn of groupBy(runs, (run) => run.turn)) appendAll(hunks, turnHunks(turn, context, position));
  return hunks;
}

/** Splits a list where the key changes. */
function groupBy<T>(items: readonly T[], keyOf: (item: T) => unknown): T[][] {
  const groups: T[][] = [];
  let key: unknown;
  for (const item of items) {
    const own = keyOf(item);
    const last = groups.at(-1);
    if (last !== undefined && own === key) last.push(item);
    else groups.push([item]);
    key = own;
  }
  return groups;
}

function turnHunks(runs: readonly DiffRun[], context: number, position: Position): DiffHunk[] {
  const hunks: DiffHunk[] = [];
  let open: DiffRun[] = [];
  const stretches = groupBy(runs, (run) => run.kind === "same");
  stretches.forEach((stretch, index) => {
    if (stretch[0]?.kind !== "same") {
      appendAll(open, stretch);
      return;
    }
    const count = lineCount(stretch);
    const isFirst = index === 0;
    const isLast = index === stretches.length - 1;
    if (!isFirst && !isLast && count <= 2 * context) {
      appendAll(open, stretch);
      return;
    }
    if (!isFirst) hunks.push(closeHunk([...open, ...cut(stretch, 0, context)], position));
    const skipped = count - (isFirst ? 0 : Math.min(count, context)) - (isLast ? 0 : Math.min(count, context));
    position.before += skipped;
    position.after += skipped;
    open = isLast ? [] : cut(stretch, count - Math.min(count, context), count);
  });
  return open.length === 0 ? hunks : [...hunks, closeHunk(open, position)];
}

function lineCount(runs: readonly DiffRun[]): number {
  return runs.reduce((sum, run) => sum + run.count, 0);
}

/** The lines `from` (inclusive) to `to` (exclusive) of runs that are alike on both sides. */
function cut(runs: readonly DiffRun[], from: number, to: number): DiffRun[] {
  const kept: DiffRun[] = [];
  let at = 0;
  for (const run of runs) {
    const start = Math.max(0, from - at);
    const end = Math.min(run.count, to - at);
    if (end > start) kept.push({ ...run, count: end - start, lines: () => run.lines().slice(start, end) });
    at += run.count;
  }
  return kept;
}

function closeHunk(runs: readonly DiffRun[], position: Position): DiffHunk {
  const before = lineCount(runs.filter((run) => run.kind !== "added"));
  const after = lineCount(runs.filter((run) => run.kind !== "removed"));
  const first = runs.find((run) => run.kind !== "same");
  const hunk: DiffHunk = {
    before: { line: position.before + (before > 0 ? 1 : 0), count: before },
    after: { line: position.after + (after > 0 ? 1 : 0), count: after },
    turn: first?.turn ?? "",
    ...(first?.event == null ? {} : { event: first.event, title: first.title }),
    runs: runs.map(hunkRun),
  };
  position.before += before;
  position.after += after;
  return hunk;
}

function hunkRun({ kind, event, heading, words, lines }: DiffRun): HunkRun {
  return {
    kind,
    ...(event === null ? {} : { event }),
    ...(heading ? { heading } : {}),
    lines: lines(),
    ...(words?.some((ranges) => ranges !== null) ? { words } : {}),
  };
}
