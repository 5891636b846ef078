// Tables of aligned columns for terminals. Cells are made one safe line each; columns that may shrink give way when the
// table is wider than the terminal; no line ends in blanks.

import { forTerminal } from "../../core/safe-text.ts";
import { displayWidth, fitWidth } from "./display-width.ts";

/** A cell: its text, and how it is coloured once it has its width. */
export type Cell = string | { readonly text: string; readonly paint: (text: string) => string };

/** How a column is laid out. */
export interface Column {
  /** Default left. */
  readonly align?: "left" | "right";
  /** Fewest columns it may shrink to; absent = it never shrinks. */
  readonly shrinkTo?: number;
}

/** What a table is laid out by. */
export interface TableOptions {
  readonly columns: readonly Column[];
  /** Columns of the terminal; default unlimited. */
  readonly width?: number;
  /** Put before each line; default nothing. */
  readonly indent?: string;
}

const GAP = "  ";
/** Most cells: nothing in them has to be made safe. */
const PRINTABLE = /^[\x20-\x7e]*$/;

/** Lays out rows of as many cells as there are columns; one line each. A column that is empty in every row is left out. */
export function renderTable(rows: readonly (readonly Cell[])[], options: TableOptions): string[] {
  const texts = rows.map((row) => row.map((cell) => oneLine(typeof cell === "string" ? cell : cell.text)));
  const natural = options.columns.map((_, index) =>
    texts.reduce((most, row) => Math.max(most, displayWidth(row[index] ?? "")), 0),
  );
  const shown = options.columns.map((column, index) => ({ column, index })).filter(({ index }) => natural[index] !== 0);
  const indent = options.indent ?? "";
  const room = (options.width ?? Number.POSITIVE_INFINITY) - indent.length - GAP.length * Math.max(0, shown.length - 1);
  const widths = shrink(natural, options.columns, room);
  return rows.map((row, line) => {
    const cells = shown.map(({ column, index }) =>
      renderCell(row[index] ?? "", texts[line]?.[index] ?? "", { column, columns: widths[index] ?? 0 }),
    );
    return (indent + cells.join(GAP)).trimEnd();
  });
}

/** Takes what is too much from the columns that may shrink, last one first. */
function shrink(natural: readonly number[], columns: readonly Column[], room: number): number[] {
  const widths = [...natural];
  let excess = widths.reduce((sum, width) => sum + width, 0) - room;
  for (let index = widths.length - 1; index >= 0 && excess > 0; index--) {
    const least = columns[index]?.shrinkTo;
    const width = widths[index] ?? 0;
    if (least === undefined || width <= least) continue;
    const taken = Math.min(excess, width - least);
    widths[index] = width - taken;
    excess -= taken;
  }
  return widths;
}

interface CellLayout {
  readonly column: Column;
  readonly columns: number;
}

function renderCell(cell: Cell, text: string, { column, columns }: CellLayout): string {
  const fitted = fitWidth(text, Math.max(1, columns));
  const painted = typeof cell === "string" ? fitted : cell.paint(fitted);
  const blanks = " ".repeat(Math.max(0, columns - displayWidth(fitted)));
  return column.align === "right" ? blanks + painted : painted + blanks;
}

/** Blanks stay as they are: a cell may be indented. */
function oneLine(text: string): string {
  return PRINTABLE.test(text) ? text : forTerminal(text.replace(/[\n\r\t]+/g, " "));
}
