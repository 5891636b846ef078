// Tables of aligned columns for terminals. Cells are made one safe line each; columns that may shrink give way when the
// table is wider than the terminal; no line ends in blanks.
import { forTerminal } from "../../core/safe-text.ts";
import { displayWidth, fitWidth } from "./display-width.ts";

/** A cell: its text, and how it is coloured once it has its width. */
export type Cell = string | { readonly text: string; readonly paint: Paint };

type Paint = (text: string) => string;

/** How a column is laid out, and coloured where a cell says nothing of it. */
export interface Column {
  readonly paint?: Paint;
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
  const { columns, indent = "" } = options;
  const measured = measure(rows, columns.length);
  const shown = columns
    .map((column, index) => ({ column, index }))
    .filter(({ index }) => measured.natural[index] !== 0);
  const room = (options.width ?? Number.POSITIVE_INFINITY) - indent.length - GAP.length * Math.max(0, shown.length - 1);
  const widths = shrink(measured.natural, columns, room);
  return rows.map((row, at) => {
    let line = indent;
    let gap = "";
    for (const { column, index } of shown) {
      const place = at * columns.length + index;
      const text = measured.safe.get(place) ?? textOf(row[index]);
      line += gap;
      line += renderCell(text, {
        width: measured.widths[place] ?? 0,
        columns: widths[index] ?? 0,
        align: column.align,
        paint: paintOf(row[index], column),
      });
      gap = GAP;
    }
    return line.trimEnd();
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

/** What was found out of all cells, in numbers: a list has ten thousand rows. */
interface MeasuredCells {
  /** Columns that each cell takes, row by row. */
  readonly widths: Uint32Array;
  /** The widest cell of each column. */
  readonly natural: readonly number[];
  /** Texts that had to be made safe, by place. */
  readonly safe: ReadonlyMap<number, string>;
}

function measure(rows: readonly (readonly Cell[])[], columns: number): MeasuredCells {
  const widths = new Uint32Array(rows.length * columns);
  const natural = Array.from({ length: columns }, () => 0);
  const safe = new Map<number, string>();
  let place = 0;
  for (const row of rows) {
    for (let index = 0; index < columns; index++, place++) {
      const text = textOf(row[index]);
      const isPlain = PRINTABLE.test(text);
      if (!isPlain) safe.set(place, oneLine(text));
      const width = isPlain ? text.length : displayWidth(safe.get(place) ?? "");
      widths[place] = width;
      if (width > (natural[index] ?? 0)) natural[index] = width;
    }
  }
  return { widths, natural, safe };
}

function textOf(cell: Cell | undefined): string {
  return typeof cell === "object" ? cell.text : (cell ?? "");
}

function paintOf(cell: Cell | undefined, column: Column): Paint | undefined {
  return typeof cell === "object" ? cell.paint : column.paint;
}

interface CellLayout {
  /** Columns that the text takes. */
  readonly width: number;
  /** Columns that there are. */
  readonly columns: number;
  readonly align: Column["align"];
  readonly paint: Paint | undefined;
}

function renderCell(text: string, { width, columns, align, paint }: CellLayout): string {
  const fits = width <= Math.max(1, columns);
  const fitted = fits ? text : fitWidth(text, Math.max(1, columns));
  const painted = paint === undefined ? fitted : paint(fitted);
  const blanks = " ".repeat(Math.max(0, columns - (fits ? width : displayWidth(fitted))));
  return align === "right" ? blanks + painted : painted + blanks;
}

/** Blanks stay as they are: a cell may be indented. */
function oneLine(text: string): string {
  return forTerminal(text.replace(/[\n\r\t]+/g, " "));
}
