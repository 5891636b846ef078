// A Markdown table as lines: its columns as wide as they must be, cells wrapped where the terminal is narrower; one cell below
// the other where even that is too wide.
import { stripVTControlCharacters } from "node:util";
import type { Tokens } from "marked";
import { forTerminal, type SafeText, safe } from "../../core/safe-text.ts";
import { displayWidth } from "../frame/display-width.ts";
import { onlyColors, unpainted } from "../frame/style.ts";
import { inlineSpans, type MarkdownRendering } from "./inline-spans.ts";
import { type Span, widthOfSpans, wrapSpans } from "./spans.ts";

type TableRow = readonly (readonly Span[])[];

/** Columns of the terminal between two of the table. */
const GAP = 3;
/** Narrowest column of a table that is too wide. */
const LEAST = 5;

/** Renders a table. */
export function renderTableBlock(table: Tokens.Table, rendering: MarkdownRendering): readonly SafeText[] {
  const { style, width } = rendering;
  const head = table.header.map(({ tokens }) => inlineSpans(tokens, style, style.heading));
  const body = table.rows.map((cells) => cells.map(({ tokens }) => inlineSpans(tokens, style)));
  const widths = columnWidths([head, ...body], width);
  if (widths === null) return renderRecords(head, body, rendering);
  const layout: TableLayout = { widths, align: table.align, bar: style.faint(rendering.ascii ? safe` | ` : safe` │ `) };
  const [line, cross] = rendering.ascii ? (["-", "-+-"] as const) : (["─", "─┼─"] as const);
  const rule = style.faint(forTerminal(widths.map((columns) => line.repeat(columns)).join(cross)));
  return [...renderRow(head, layout), rule, ...body.flatMap((row) => renderRow(row, layout))];
}

/** As wide as the cells; the widest give way where that is too wide. Null when there is no room for all. */
function columnWidths(rows: readonly TableRow[], width: number): readonly number[] | null {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(1, ...rows.map((row) => widthOfSpans(row[column] ?? []))));
  let excess = widths.reduce((sum, columns) => sum + columns, GAP * (widths.length - 1)) - width;
  while (excess > 0) {
    const widest = Math.max(...widths);
    if (widest <= LEAST) return null;
    const next = Math.max(LEAST, ...widths.filter((columns) => columns < widest));
    const taken = Math.min(excess, widest - next);
    widths[widths.indexOf(widest)] = widest - taken;
    excess -= taken;
  }
  return widths;
}

interface TableLayout {
  readonly widths: readonly number[];
  readonly align: Tokens.Table["align"];
  /** Between two columns. */
  readonly bar: SafeText;
}

function renderRow(row: TableRow, { widths, align, bar }: TableLayout): readonly SafeText[] {
  const cells = widths.map((columns, at) => wrapSpans(row[at] ?? [], columns));
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, at) => {
    const parts = cells.map((lines, column) =>
      padded(lines[at] ?? "", widths[column] ?? 0, align[column] === "right" ? "left" : "right"),
    );
    return onlyColors(parts.join(bar).trimEnd());
  });
}

/** Fills a cell up with blanks. */
function padded(text: SafeText, columns: number, side: "left" | "right"): SafeText {
  const blanks = forTerminal(" ".repeat(Math.max(0, columns - displayWidth(stripVTControlCharacters(text)))));
  return side === "left" ? safe`${blanks}${text}` : safe`${text}${blanks}`;
}

/** Row by row, each cell after the heading of its column. */
function renderRecords(head: TableRow, body: readonly TableRow[], { width }: MarkdownRendering): readonly SafeText[] {
  return body.flatMap((row, index): readonly SafeText[] => {
    const lines = row.flatMap((cell, at) =>
      wrapSpans([...(head[at] ?? []), { text: safe`: `, paint: unpainted }, ...cell], width),
    );
    return index === 0 ? lines : ["", ...lines];
  });
}
