// A diff of two views as the unified diff that git users know: whole lines with `-` and `+`, the words that differ
// highlighted when there are colours. Long removed or added stretches are folded unless the full text is asked for.
import type { DiffReport } from "../../app/diff/diff.ts";
import type { DiffHunk, HunkRun } from "../../app/diff/diff-hunks.ts";
import { type DiffCounts, type DiffStat, joinRemovedTurns } from "../../app/diff/diff-stat.ts";
import type { WordRange } from "../../app/diff/line-diff.ts";
import { forTerminal, forTerminalLine, joinLines, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import { type Cell, renderTable } from "../frame/table.ts";
import { fitWidth, type Paint, type Rendering, type Style } from "../frame/terminal.ts";
import { shownWidth, wrapProse } from "../frame/wrap.ts";
import { groupDigits, renderCount, renderRange, renderShare, renderTokens } from "./quantity.ts";

interface DiffRendering extends Rendering {
  /** Show every line whole; default false: long stretches and long lines are cut. */
  readonly full?: boolean;
}

/** Longest line shown whole, characters. */
const LONGEST_LINE = 1000;
/** Characters shown before the first difference of a cut line. */
const LEAD = 200;

/** Renders a diff; empty if the model sees the same. */
export function renderDiff(report: DiffReport, rendering: DiffRendering): SafeText {
  if (report.hunks.length === 0) return "";
  const { style, width } = rendering;
  const full = rendering.full ?? false;
  const lines: SafeText[] = [
    style.heading(fitWidth(safe`--- ${forTerminalLine(report.from)}`, width)),
    style.heading(fitWidth(safe`+++ ${forTerminalLine(report.to)}`, width)),
  ];
  for (const item of full ? report.hunks : foldHunks(report.hunks)) {
    if ("runs" in item) lines.push(renderHeader(item, rendering), ...renderLines(item, { style, width, full }));
    else {
      const turns = renderRange(item.from, item.to);
      lines.push(
        style.hunk(
          safe`@@ … ${renderCount(item.turns, "turn")} more ${item.kind} (${turns}), ${renderCount(item.count, "line")} … @@`,
        ),
      );
    }
  }
  return joinLines(lines);
}

function renderHeader({ before, after, turn, title }: DiffHunk, { style, width }: Rendering): SafeText {
  const place = safe`@@ -${before.line},${before.count} +${after.line},${after.count} @@`;
  const named = forTerminalLine(title === undefined ? turn : `${turn} · ${title}`);
  return safe`${style.hunk(place)} ${fitWidth(named, Math.max(1, width - place.length - 1))}`;
}

function renderLines({ runs }: DiffHunk, { style, width, full }: Required<DiffRendering>): SafeText[] {
  return (full ? runs : foldHunk(runs)).flatMap((item) => {
    if (!("lines" in item)) {
      const events = item.events > 1 ? safe`${renderCount(item.events, "event")}, ` : "";
      return [style.faint(safe`${SIGNS[item.kind]}${INDENT}… ${events}${renderCount(item.count, "line")} …`)];
    }
    return item.lines.flatMap((text, index) =>
      wrapLine({ run: item, text, words: item.words?.[index] ?? [] }, { style, width, full }),
    );
  });
}

const SIGNS = { same: " ", removed: "-", added: "+" } as const;
const INDENT = "  " as const;

interface Line {
  readonly run: HunkRun;
  readonly text: string;
  readonly words: readonly WordRange[];
}

/** A line at the terminal's width: each of its rows has its sign. */
function wrapLine(line: Line, { style, width, full }: Required<DiffRendering>): readonly SafeText[] {
  const { run, text } = line;
  const sign = safe`${SIGNS[run.kind]}${run.heading === true ? "" : INDENT}`;
  if (text === "") return [run.kind === "same" ? "" : paintOf(run.kind, style)(safe`${SIGNS[run.kind]}`)];
  const whole = renderLine(line, { sign, style, full });
  if (shownWidth(whole) <= width) return [whole];
  const bare = renderLine(line, { sign: "", style, full });
  return wrapProse(bare, width - sign.length).map((row) => safe`${paintOf(run.kind, style)(sign)}${row}`);
}

function renderLine(
  { run, text, words }: Line,
  { sign, style, full }: { readonly sign: SafeText; readonly style: Style; readonly full: boolean },
): SafeText {
  const first = words[0]?.[0] ?? 0;
  const start = full || text.length <= LONGEST_LINE || first < LONGEST_LINE - LEAD ? 0 : first - LEAD;
  const end = full ? text.length : Math.min(text.length, start + LONGEST_LINE);
  const head = start > 0 ? safe`… ${groupDigits(start)} characters … ` : "";
  const tail = end < text.length ? safe` … ${groupDigits(text.length - end)} characters …` : "";
  const paint = paintOf(run.kind, style);
  if (words.length === 0) return paint(safe`${sign}${head}${forTerminal(text.slice(start, end))}${tail}`);
  const word = run.kind === "removed" ? style.removedWord : style.addedWord;
  return safe`${paint(safe`${sign}${head}`)}${paintWords({ run, text, words }, { start, end, paint, word })}${paint(tail)}`;
}

function paintOf(kind: HunkRun["kind"], style: Style): Paint {
  if (kind === "same") return (text) => text;
  return kind === "removed" ? style.removed : style.added;
}

interface Painting {
  readonly start: number;
  readonly end: number;
  readonly paint: Paint;
  readonly word: Paint;
}

function paintWords({ text, words }: Line, { start, end, paint, word }: Painting): SafeText {
  const painted: SafeText[] = [];
  let at = start;
  for (const [from, to] of words) {
    const left = Math.min(Math.max(from, at), end);
    const right = Math.min(Math.max(to, at), end);
    painted.push(paint(forTerminal(text.slice(at, left))), word(forTerminal(text.slice(left, right))));
    at = right;
  }
  return joinSafe([...painted, paint(forTerminal(text.slice(at, end)))], "");
}

// Folds what nobody reads line by line: the middle of a long removed or added event, the middle events of a turn removed
// as a whole, the middle of many such turns. Folds only what becomes shorter.

/** Folded lines. */
interface FoldedLines {
  readonly kind: HunkRun["kind"];
  readonly count: number;
  readonly events: number;
}

/** Folded turns. Positions are raw, 0-based, inclusive. */
interface FoldedTurns {
  readonly kind: "removed" | "added";
  readonly turns: number;
  readonly from: number;
  readonly to: number;
  /** Lines in them. */
  readonly count: number;
}

/** First and last items shown of a folded list. */
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

/** Folds long runs of turns that were removed or added as a whole. */
function foldHunks(hunks: readonly DiffHunk[]): (DiffHunk | FoldedTurns)[] {
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
  const head = { ...bare, lines: shown, words: words?.slice(0, shown.length) };
  const tail = { ...bare, lines: rest, words: words?.slice(-rest.length) };
  return [head, { kind: run.kind, count: hidden.length, events: 1 }, tail];
}

function countLines(runs: readonly HunkRun[]): number {
  return runs.reduce((sum, run) => sum + run.lines.length, 0);
}

/** Cuts out the middle if it is more than a few items; else shows everything. */
function splitMiddle<T>(
  items: readonly T[],
  { first, last }: Ends,
): { shown: readonly T[]; hidden: readonly T[]; rest: readonly T[] } {
  if (items.length <= first + last + 2) return { shown: items, hidden: [], rest: [] };
  const end = items.length - last;
  return { shown: items.slice(0, first), hidden: items.slice(first, end), rest: items.slice(end) };
}

/** Returns the kind if a hunk is one turn that was removed or added as a whole. */
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

/** Renders the counts of a diff; empty when nothing differs. */
export function renderDiffStat(stat: DiffStat, { style, width }: Rendering): SafeText {
  if (stat.turns.length === 0) return "";
  const row = (label: string, counts: DiffCounts): Cell[] => [
    label,
    {
      text: eventSigns(counts),
      paint: counts.events.added > 0 && counts.events.removed === 0 ? style.added : style.removed,
    },
    renderTokens(counts.tokens),
    { text: renderShare(counts.tokens), paint: style.faint },
    { text: charactersText(counts), paint: style.faint },
  ];
  const header = ["TURN", "EVENTS", "TOKENS", "", "CHARACTERS"].map((text) => ({ text, paint: style.faint }));
  const { overhead } = stat;
  const rows = [
    header,
    ...joinRemovedTurns(stat.turns).map((turn) => row(turn.turn, turn)),
    ...(overhead === undefined ? [] : [["system prompt and tools", "", renderTokens(overhead), "", ""]]),
    row("total", stat.total),
  ];
  const columns = [{ shrinkTo: 12 }, {}, { align: "right" }, { align: "right" }, { align: "right" }] as const;
  return joinLines(renderTable(rows, { columns, width }));
}

/** Removed, changed and added events as signs, e.g. `-12 ~3 +2`. */
function eventSigns({ events: { removed, changed, added } }: DiffCounts): SafeText {
  const signs = [
    removed && safe`-${groupDigits(removed)}`,
    changed && safe`~${groupDigits(changed)}`,
    added && safe`+${groupDigits(added)}`,
  ];
  return joinSafe(
    signs.filter((sign) => sign !== 0),
    " ",
  );
}

function charactersText({ characters: { before, after } }: DiffCounts): SafeText {
  return before === after ? groupDigits(before) : safe`${groupDigits(before)} → ${groupDigits(after)}`;
}
