// Tables of aligned columns for terminals. Each cell becomes one safe line; shrinkable columns shrink when the table is
// wider than the terminal; no line ends in blanks.
import { forTerminal, type SafeText } from "../../core/safe-text.ts";
import { displayWidth, fitWidth, type Paint, unpainted } from "./terminal.ts";

/** A cell: its text, and its colour, which is applied after padding. */
export type Cell = string | { readonly text: string; readonly paint: Paint };

/** Layout of a column, and the colour of cells without one of their own. */
export interface Column {
  readonly paint?: Paint;
  /** Default left. */
  readonly align?: "left" | "right";
  /** Fewest columns it may shrink to; absent = it never shrinks. */
  readonly shrinkTo?: number;
}

export interface TableOptions {
  readonly columns: readonly Column[];
  /** Columns of the terminal; default unlimited. */
  readonly width?: number;
  /** Put before each line; default nothing. */
  readonly indent?: Indent;
  /** Blanks between columns; default 2. */
  readonly gap?: 1 | 2;
}

/** Blanks before a line. */
type Indent = "" | "  " | "    " | "      ";

const GAP = 2;
/** Pieces that are joined before more are made, so that they stay in the garbage collector's young generation. */
const PIECES_AT_ONCE = 1024;
/** Matches most cells: they are safe already, and as many columns wide as they have characters. */
const PRINTABLE = /^[\x20-\x7e]*$/;

/** Lays out rows of as many cells as there are columns; one line each. A column that is empty in every row is left out. */
export function renderTable(rows: readonly (readonly Cell[])[], options: TableOptions): SafeText[] {
  const count = options.columns.length;
  const cells = rows.flatMap((row) => Array.from({ length: count }, (_, index) => row[index] ?? ""));
  const layout = layOut(cells, options);
  return rows.map((_, row) => {
    const pieces: string[] = [];
    drawRow(pieces, cells, row * count, layout);
    return pieces.join("") as SafeText;
  });
}

/**
 * Renders a table as one text, from a flat list of cells in row order. Makes no list or string per row, for tables of
 * ten thousand rows.
 */
export function renderTableText(cells: readonly Cell[], options: TableOptions): SafeText {
  const layout = layOut(cells, options);
  const texts: string[] = [];
  let pieces: string[] = [];
  for (let from = 0; from < cells.length; from += options.columns.length) {
    if (from > 0) pieces.push("\n");
    drawRow(pieces, cells, from, layout);
    if (pieces.length < PIECES_AT_ONCE) continue;
    texts.push(pieces.join(""));
    pieces = [];
  }
  return [...texts, ...pieces].join("") as SafeText;
}

/** A visible column, and the cell drawn last in it: the next one is often the same. */
interface Place {
  readonly index: number;
  /** Columns of the terminal that it takes. */
  readonly width: number;
  readonly isRight: boolean;
  /** Whether it is the last column. */
  readonly isLast: boolean;
  readonly paint: Paint;
  above: { readonly text: string; readonly paint: Paint; readonly drawn: string } | null;
}

function placeOf(index: number, { align, paint = unpainted }: Column = {}, width: number, isLast: boolean): Place {
  return { index, width, isRight: align === "right", isLast, paint, above: null };
}

/** Runs of blanks by their length. */
function blanksUpTo(length: number): readonly string[] {
  return Array.from({ length: length + 1 }, (_, index) => " ".repeat(index));
}

interface RowLayout {
  readonly places: readonly Place[];
  readonly special: MeasuredCells["special"];
  readonly indent: Indent;
  readonly gap: number;
  readonly blanks: readonly string[];
}

function layOut(cells: readonly Cell[], options: TableOptions): RowLayout {
  const { columns, indent = "", gap = GAP } = options;
  const { natural, special } = measure(cells, columns.length);
  const shown = [...columns.keys()].filter((index) => natural[index] !== 0);
  const room = (options.width ?? Number.POSITIVE_INFINITY) - indent.length - gap * Math.max(0, shown.length - 1);
  const widths = shrink(natural, columns, room);
  const places = shown.map((index, at) =>
    placeOf(index, columns[index], Math.max(1, widths[index] ?? 0), at === shown.length - 1),
  );
  const blanks = blanksUpTo(places.reduce((sum, { width }) => sum + width + gap, 0));
  return { places, special, indent, gap, blanks };
}

/** Appends a row to the pieces. A list has eighty thousand cells: most take the short path here. */
function drawRow(pieces: string[], cells: readonly Cell[], from: number, layout: RowLayout): void {
  const start = pieces.length;
  pieces.push(layout.indent);
  for (const place of layout.places) {
    const cell = cells[from + place.index];
    const text = textOf(cell);
    const paint = typeof cell === "object" ? cell.paint : place.paint;
    const { above } = place;
    if (above?.text === text && above.paint === paint) pieces.push(above.drawn);
    else {
      const drawn = drawCell(text as SafeText, paint, place, layout);
      place.above = { text, paint, drawn };
      pieces.push(drawn);
    }
  }
  const last = pieces.at(-1);
  if (last !== "" && last?.endsWith(" ") !== true) return;
  const line = pieces.splice(start).join("");
  pieces.push(line.endsWith(" ") ? line.trimEnd() : line);
}

/** Pads a cell and adds the gap after it. Texts that are not in `special` are plain ASCII. */
function drawCell(text: SafeText, paint: Paint, { width, isRight, isLast }: Place, layout: RowLayout): string {
  const { special, blanks, gap } = layout;
  let shown = text;
  let taken = text.length;
  if (taken > width || special.size > 0)
    ({ text: shown, width: taken } = shorten(special.get(text) ?? { text, width: taken }, width));
  const missing = width - taken;
  if (isLast) return isRight ? `${blanks[missing] ?? ""}${paint(shown)}` : paint(shown);
  if (isRight) return `${blanks[missing] ?? ""}${paint(shown)}${blanks[gap] ?? ""}`;
  return `${paint(shown)}${blanks[missing + gap] ?? ""}`;
}

function shorten(cell: MeasuredText, width: number): MeasuredText {
  if (cell.width <= width) return cell;
  const text = fitWidth(cell.text, width);
  return { text, width: displayWidth(text) };
}

/** Takes the excess from the columns that may shrink, last one first. */
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

/** A safe text, and its width in columns. */
interface MeasuredText {
  readonly text: SafeText;
  readonly width: number;
}

interface MeasuredCells {
  /** The widest cell of each column. */
  readonly natural: readonly number[];
  /** The shown form of texts that had to be made safe, or whose width is not their length. */
  readonly special: ReadonlyMap<string, MeasuredText>;
}

function measure(cells: readonly Cell[], columns: number): MeasuredCells {
  const special = new Map<string, MeasuredText>();
  const natural = Array.from({ length: columns }, () => 0);
  for (let index = 0; index < columns; index++) {
    let above: string | null = null;
    let widest = 0;
    for (let at = index; at < cells.length; at += columns) {
      const text = textOf(cells[at]);
      if (text === above) continue;
      above = text;
      let width = text.length;
      if (!PRINTABLE.test(text)) {
        const safe = oneLine(text);
        width = displayWidth(safe);
        special.set(text, { text: safe, width });
      }
      if (width > widest) widest = width;
    }
    natural[index] = widest;
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
