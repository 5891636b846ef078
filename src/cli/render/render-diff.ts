// A diff of two views as the unified diff that git users know: whole lines with `-` and `+`, the words that differ
// highlighted when there are colours. Long removed or added stretches are folded unless the full text is asked for.

import type { DiffReport } from "../../app/diff/diff.ts";
import type { DiffHunk, HunkRun } from "../../app/diff/diff-hunks.ts";
import type { WordRange } from "../../app/diff/line-diff.ts";
import { forTerminal, forTerminalLine, joinLines, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import type { Paint, Rendering, Style } from "../frame/style.ts";
import { foldHunk, foldHunks } from "./fold-diff.ts";
import { groupDigits, renderCount, renderRange } from "./render-quantity.ts";

/** How much is shown. */
export interface DiffRendering extends Rendering {
  /** Show every line whole; default false: long stretches and long lines are cut. */
  readonly full?: boolean;
}

/** Characters of a line beyond which it is cut. */
const LONGEST_LINE = 1000;
/** Characters shown before the first difference of a line that is cut. */
const LEAD = 200;

/** Renders a diff; empty when a model sees the same. */
export function renderDiff(report: DiffReport, rendering: DiffRendering): SafeText {
  if (report.hunks.length === 0) return "";
  const { style } = rendering;
  const full = rendering.full ?? false;
  const lines: SafeText[] = [
    style.heading(safe`--- ${forTerminalLine(report.from)}`),
    style.heading(safe`+++ ${forTerminalLine(report.to)}`),
  ];
  for (const item of full ? report.hunks : foldHunks(report.hunks)) {
    if ("runs" in item) lines.push(renderHeader(item, style), ...renderLines(item, { style, full }));
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

function renderHeader({ before, after, turn, title }: DiffHunk, style: Style): SafeText {
  const place = safe`@@ -${before.line},${before.count} +${after.line},${after.count} @@`;
  return safe`${style.hunk(place)} ${forTerminalLine(title === undefined ? turn : `${turn} · ${title}`)}`;
}

function renderLines(
  { runs }: DiffHunk,
  { style, full }: { readonly style: Style; readonly full: boolean },
): SafeText[] {
  return (full ? runs : foldHunk(runs)).flatMap((item) => {
    if (!("lines" in item)) {
      const events = item.events > 1 ? safe`${renderCount(item.events, "event")}, ` : "";
      return [style.faint(safe`${SIGNS[item.kind]}${INDENT}… ${events}${renderCount(item.count, "line")} …`)];
    }
    return item.lines.map((text, index) =>
      renderLine({ run: item, text, words: item.words?.[index] ?? [] }, style, full),
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

function renderLine(line: Line, style: Style, full: boolean): SafeText {
  const { run, text, words } = line;
  if (text === "") return run.kind === "same" ? "" : paintOf(run.kind, style)(safe`${SIGNS[run.kind]}`);
  const first = words[0]?.[0] ?? 0;
  const start = full || text.length <= LONGEST_LINE || first < LONGEST_LINE - LEAD ? 0 : first - LEAD;
  const end = full ? text.length : Math.min(text.length, start + LONGEST_LINE);
  const sign = safe`${SIGNS[run.kind]}${run.heading === true ? "" : INDENT}`;
  const head = start > 0 ? safe`… ${groupDigits(start)} characters … ` : "";
  const tail = end < text.length ? safe` … ${groupDigits(text.length - end)} characters …` : "";
  const paint = paintOf(run.kind, style);
  if (words.length === 0) return paint(safe`${sign}${head}${forTerminal(text.slice(start, end))}${tail}`);
  const word = run.kind === "removed" ? style.removedWord : style.addedWord;
  return safe`${paint(safe`${sign}${head}`)}${paintWords(line, { start, end, paint, word })}${paint(tail)}`;
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
