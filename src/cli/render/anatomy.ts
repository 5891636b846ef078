// `jpg stats --anatomy`: what fills the window, as bars that fit the terminal, and what strategies would still free.
import type { AnatomyReport, AnatomyTurn } from "../../app/look/anatomy.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { renderPrice } from "../../core/model/money.ts";
import { partName } from "../../core/model/part-name.ts";
import { decimal, forTerminal, forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import { type Column, renderTable } from "../frame/table.ts";
import { displayWidth, type Rendering } from "../frame/terminal.ts";
import { groupDigits, renderCount, renderOverhead, renderRange, renderSource } from "./quantity.ts";

/** Most tools and turns shown, the largest; `--json` has all. */
const MOST_ROWS = 15;

const COST_COLUMNS = ["SENT", "ANSWERED", "PRICE"] as const;
/** A narrower terminal has no room for all cost columns. */
const NARROW = 60;

export function renderAnatomy(report: AnatomyReport, rendering: Rendering): SafeText {
  const { tokens, window } = report;
  const head = [
    safe`${forTerminalLine(report.branch)} · ${renderCount(report.turns, "turn")}`,
    safe`${formatTokens(tokens)} of ${formatTokens(window)} tokens, ${percent(tokens, window)}${renderSource(report.tokens_source)}`,
    renderWindow(report),
  ];
  const overhead = renderOverhead(report.overhead_source);
  const notes: readonly SafeText[] = overhead === null ? [] : ["", rendering.style.faint(overhead)];
  const sections: readonly SafeText[] = [renderKinds, renderTools, renderTurns, renderHeadroom].flatMap((render) => {
    const lines = render(report, rendering);
    return lines.length === 0 ? [] : ["", ...lines];
  });
  return joinLines([...head, ...sections, ...notes]);
}

function renderWindow({ model, window_source: source }: AnatomyReport): SafeText {
  const name = model === null ? safe`no model is named` : forTerminalLine(model);
  return source === "known" ? name : safe`${name}: its window is not known, so that of most models is assumed`;
}

function renderKinds(report: AnatomyReport, rendering: Rendering): readonly SafeText[] {
  const rows = report.by_kind.filter(isSeen).map(({ kind, tokens }) => ({
    cells: [partName(kind), formatTokens(tokens), percent(tokens, report.tokens)],
    size: tokens,
  }));
  return renderBars(["WHAT FILLS IT", "TOKENS", ""], rows, rendering);
}

function renderTools(report: AnatomyReport, rendering: Rendering): readonly SafeText[] {
  const tools = report.by_tool.filter(isSeen);
  const shown = tools.slice(0, MOST_ROWS);
  const rows = shown.map(({ tool, calls, tokens }) => ({
    cells: [
      tool === "" ? "(results without a call)" : tool,
      groupDigits(calls),
      formatTokens(tokens),
      percent(tokens, report.tokens),
    ],
    size: tokens,
  }));
  const left = renderOmitted(shown, tools.slice(MOST_ROWS), { noun: "tool", rendering });
  return rows.length === 0 ? [] : [...renderBars(["TOOL", "CALLS", "TOKENS", ""], rows, rendering), ...left];
}

function renderTurns(report: AnatomyReport, rendering: Rendering): readonly SafeText[] {
  const { width } = rendering;
  const largest = new Set(report.by_turn.toSorted((a, b) => b.tokens - a.tokens).slice(0, MOST_ROWS));
  // The other costs are in the last line, and in the JSON document.
  const columns = report.recorded === null ? [] : width < NARROW ? COST_COLUMNS.slice(2) : COST_COLUMNS;
  const rows = report.by_turn
    .filter((turn) => largest.has(turn))
    .map((turn) => ({
      cells: [
        turnName(turn),
        formatTokens(turn.tokens),
        percent(turn.tokens, report.tokens),
        ...costCells(turn.recorded).slice(COST_COLUMNS.length - columns.length),
      ],
      size: turn.tokens,
    }));
  const left = renderOmitted(
    [...largest],
    report.by_turn.filter((turn) => !largest.has(turn)),
    { noun: "turn", rendering },
  );
  if (rows.length === 0) return [];
  return [
    ...renderBars(["TURN", "TOKENS", "", ...columns], rows, rendering),
    ...left,
    ...renderCosts(report, rendering),
  ];
}

function turnName({ from, to, kind }: AnatomyTurn): SafeText {
  return kind === "kept" ? renderRange(from, to) : safe`${renderRange(from, to)} ${kind}`;
}

function costCells(cost: AnatomyTurn["recorded"]): readonly string[] {
  if (cost === null) return ["", "", ""];
  const { input, cache_read, cache_write, output, price_usd } = cost;
  const price = price_usd === null ? "?" : renderPrice(price_usd);
  return [formatTokens(input + cache_read + cache_write), formatTokens(output), price];
}

function renderCosts({ recorded }: AnatomyReport, { style }: Rendering): readonly SafeText[] {
  if (recorded === null) return [];
  const [sent = "", answered = "", price = ""] = costCells(recorded);
  const requests = renderCount(recorded.requests, "request");
  const paid =
    recorded.price_usd === null ? safe`price unknown` : safe`${forTerminalLine(price)} at today's list prices`;
  return [
    style.faint(
      safe`recorded: ${requests}, ${forTerminalLine(sent)} tokens sent, ${forTerminalLine(answered)} answered, ${paid}`,
    ),
  ];
}

interface Sized {
  readonly tokens: number;
}

/** A row without tokens says nothing. */
function isSeen({ tokens }: Sized): boolean {
  return Math.round(tokens) > 0;
}

/** Renders the sum of omitted rows, none of which is larger than a shown one. */
function renderOmitted(
  shown: readonly Sized[],
  left: readonly Sized[],
  { noun, rendering }: { readonly noun: string; readonly rendering: Rendering },
): readonly SafeText[] {
  if (left.length === 0) return [];
  const sizes = (of: readonly Sized[]): readonly number[] => of.map(({ tokens }) => tokens);
  const which = Math.max(...sizes(left)) < Math.min(...sizes(shown)) ? "smaller" : "other";
  const tokens = sizes(left).reduce((sum, size) => sum + size, 0);
  return [rendering.style.faint(safe`${renderCount(left.length, `${which} ${noun}`)}: ${formatTokens(tokens)}`)];
}

function renderHeadroom(report: AnatomyReport, rendering: Rendering): readonly SafeText[] {
  const { window } = report;
  const { strategies, mechanical } = report.headroom;
  const rows = [...strategies.filter(({ frees }) => frees > 0), { strategy: "all of them", ...mechanical }].map(
    ({ strategy, frees }) => ({
      cells: [strategy, formatTokens(frees), percent(frees, window)],
      size: frees,
    }),
  );
  return [...renderBars(["STILL TO FREE", "TOKENS", "WINDOW"], rows, rendering), ...renderEnd(report)];
}

/** Says when mechanical compaction stops helping. */
function renderEnd({ window, headroom }: AnatomyReport): readonly SafeText[] {
  const { mechanical, threshold, turns_left: left } = headroom;
  const stays = safe`After all of them, ${formatTokens(mechanical.after)} are left, ${percent(mechanical.after, window)} of the window.`;
  const line = percent(threshold, 1);
  if (left === null) return [stays];
  if (left === 0) return [stays, safe`That is above ${line}: only a summary helps now.`];
  return [
    stays,
    safe`In ${renderCount(left, "turn")} like these, that will be ${line}: from then on only a summary helps.`,
  ];
}

function percent(part: number, whole: number): SafeText {
  const share = whole === 0 ? 0 : (100 * part) / whole;
  return share > 0 && share < 0.95 ? safe`${decimal(share, 1)}%` : safe`${Math.round(share)}%`;
}

// Rows that end with a bar, whose length shows a row's size relative to the largest. Bars use the width that the columns
// leave free.

/** A row: a name, numbers, and the size that its bar shows. */
export interface BarRow {
  /** As many as there are headings. */
  readonly cells: readonly string[];
  /** 0 or more. */
  readonly size: number;
}

/** Width of a line where nothing limits it, columns. */
const USUAL_WIDTH = 80;
/** A longer bar shows no more; a shorter one shows nothing and is left out. */
const LONGEST_BAR = 40;
const SHORTEST_BAR = 4;
/** Names shrink for bars up to this length, but not below their own minimum. */
const FAIR_BAR = 10;
const FAIR_NAME = 18;
const GAP = 2;
/** Eighths of a column. */
const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"] as const;

/** Lays rows out under headings: the first column to the left, numbers to the right, the bar last. */
export function renderBars(
  headings: readonly string[],
  rows: readonly BarRow[],
  { style, width }: Rendering,
): readonly SafeText[] {
  const room = Math.min(width, USUAL_WIDTH);
  const [name = 0, ...numbers] = headings.map((heading, at) => GAP + columnWidth(heading, rows, at));
  const left = room - numbers.reduce((sum, own) => sum + own, 0);
  const length = Math.min(LONGEST_BAR, Math.max(left - name, Math.min(FAIR_BAR, left - GAP - FAIR_NAME)));
  const largest = Math.max(1, ...rows.map(({ size }) => size));
  const bar = (size: number): string => (length < SHORTEST_BAR ? "" : drawBar((size / largest) * length));
  const columns: readonly Column[] = [
    { shrinkTo: 6 },
    ...headings.slice(1).map(() => ({ align: "right" }) as const),
    { paint: style.id },
  ];
  const head = headings.map((text) => ({ text, paint: style.faint }));
  return renderTable([head, ...rows.map(({ cells, size }) => [...cells, bar(size)])], { columns, width: room });
}

function columnWidth(heading: string, rows: readonly BarRow[], at: number): number {
  return rows.reduce((most, { cells }) => Math.max(most, displayWidth(forTerminal(cells[at] ?? ""))), heading.length);
}

/** Draws a bar of a length in columns; anything above 0 is visible. */
function drawBar(length: number): string {
  const eighths = length > 0 ? Math.max(1, Math.round(length * 8)) : 0;
  return `${"█".repeat(Math.floor(eighths / 8))}${EIGHTHS[eighths % 8] ?? ""}`;
}
