// Tables of aligned columns for terminals. Cells are made one safe line each; columns that may shrink give way when the
// table is wider than the terminal; no line ends in blanks.
import { forTerminal, type SafeText } from "../../core/safe-text.ts";
import { displayWidth, fitWidth } from "./display-width.ts";
import { type Paint, unpainted } from "./style.ts";

/** A cell: its text, and how it is coloured once it has its width. */
export type Cell = string | { readonly text: string; readonly paint: Paint };

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
  readonly indent?: Indent;
}

/** Blanks before a line. */
type Indent = "" | "  " | "    " | "      ";

const GAP = "  ";
/** Most cells: nothing in them has to be made safe, and they take as many columns as characters. */
const PRINTABLE = /^[\x20-\x7e]*$/;

/** Lays out rows of as many cells as there are columns; one line each. A column that is empty in every row is left out. */
export function renderTable(rows: readonly (readonly Cell[])[], options: TableOptions): SafeText[] {
  const { columns, indent = "" } = options;
  const { natural, special } = measure(rows, columns.length);
  const shown = [...columns.keys()].filter((index) => natural[index] !== 0);
  const room = (options.width ?? Number.POSITIVE_INFINITY) - indent.length - GAP.length * Math.max(0, shown.length - 1);
  const widths = shrink(natural, columns, room);
  const places = shown.map((index) => placeOf(index, columns[index], Math.max(1, widths[index] ?? 0)));
  const blanks = blanksUpTo(places.reduce((sum, { width }) => sum + width + GAP.length, 0));
  return rows.map((row) => renderRow(row, { places, special, indent, blanks }));
}

/** A column that is shown. */
interface Place {
  readonly index: number;
  /** Columns of the terminal that it takes. */
  readonly width: number;
  readonly isRight: boolean;
  readonly paint: Paint;
}

function placeOf(index: number, { align, paint = unpainted }: Column = {}, width: number): Place {
  return { index, width, isRight: align === "right", paint };
}

/** Runs of blanks by their length. */
function blanksUpTo(length: number): readonly string[] {
  return Array.from({ length: length + 1 }, (_, index) => " ".repeat(index));
}

interface RowLayout {
  readonly places: readonly Place[];
  readonly special: MeasuredCells["special"];
  readonly indent: Indent;
  readonly blanks: readonly string[];
}

/** Blanks are held back until something follows them. A list has eighty thousand cells: most go through here in a few steps. */
function renderRow(row: readonly Cell[], { places, special, indent, blanks }: RowLayout): SafeText {
  const pieces: string[] = [indent];
  let held = 0;
  for (const { index, width, isRight, paint } of places) {
    const cell = row[index];
    // What is not in `special` is plain ASCII.
    let shown = textOf(cell) as SafeText;
    let taken = shown.length;
    if (taken > width || special.size > 0)
      ({ text: shown, width: taken } = shorten(special.get(shown) ?? { text: shown, width: taken }, width));
    if (isRight) held += width - taken;
    pieces.push(blanks[held] ?? "", typeof cell === "object" ? cell.paint(shown) : paint(shown));
    held = GAP.length + (isRight ? 0 : width - taken);
  }
  // Only blanks stand between cells that are safe. Joined at once, a line is one string, and not a tree of two dozen.
  const line = pieces.join("");
  return (line.endsWith(" ") ? line.trimEnd() : line) as SafeText;
}

function shorten(cell: MeasuredText, width: number): MeasuredText {
  if (cell.width <= width) return cell;
  const text = fitWidth(cell.text, width);
  return { text, width: displayWidth(text) };
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

/** A text that is safe, and the columns of a terminal that it takes. */
interface MeasuredText {
  readonly text: SafeText;
  readonly width: number;
}

interface MeasuredCells {
  /** The widest cell of each column. */
  readonly natural: readonly number[];
  /** Texts that had to be made safe, or whose width is not their length, as they are shown. */
  readonly special: ReadonlyMap<string, MeasuredText>;
}

function measure(rows: readonly (readonly Cell[])[], columns: number): MeasuredCells {
  const special = new Map<string, MeasuredText>();
  const natural = Array.from({ length: columns }, () => 0);
  for (const row of rows) {
    for (let index = 0; index < columns; index++) {
      const text = textOf(row[index]);
      let width = text.length;
      if (!PRINTABLE.test(text)) {
        const safe = oneLine(text);
        width = displayWidth(safe);
        special.set(text, { text: safe, width });
      }
      if (width > (natural[index] ?? 0)) natural[index] = width;
    }
  }
  return { natural, special };
}

function textOf(cell: Cell | undefined): string {
  return typeof cell === "object" ? cell.text : (cell ?? "");
}

/** Blanks stay as they are: a cell may be indented. */
function oneLine(text: string): SafeText {
  return forTerminal(text.replace(/[\n\r\t]+/g, " "));
}
