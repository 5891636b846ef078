// Rows with a bar behind each: its length tells a row's size beside the largest. They fit the terminal, the bars in what the
// columns leave of it.
import { forTerminal, type SafeText } from "../../core/safe-text.ts";
import { displayWidth } from "../frame/display-width.ts";
import type { Rendering } from "../frame/style.ts";
import { type Column, renderTable } from "../frame/table.ts";

/** A row: a name, numbers, and what its bar shows. */
export interface BarRow {
  /** As many as there are headings. */
  readonly cells: readonly string[];
  /** 0 or more. */
  readonly size: number;
}

/** Columns of a line where nothing limits it. */
const USUAL_WIDTH = 80;
/** A longer bar tells no more; a shorter one nothing, and is left out. */
const LONGEST_BAR = 40;
const SHORTEST_BAR = 4;
/** Names give way to bars of this length, but not below that of theirs. */
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

/** Draws a bar of a length in columns; whatever is there shows. */
function drawBar(length: number): string {
  const eighths = length > 0 ? Math.max(1, Math.round(length * 8)) : 0;
  return `${"█".repeat(Math.floor(eighths / 8))}${EIGHTHS[eighths % 8] ?? ""}`;
}
