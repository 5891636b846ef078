// A line of input as rows of a terminal: wrapped at its width, the cursor where it belongs, never taller than the screen.
import { stripVTControlCharacters } from "node:util";
import { displayWidth } from "../frame/display-width.ts";
import { LINE_FEED, type LineCell } from "./cells.ts";
import type { EditState } from "./edit-state.ts";

/** What a line is laid out for. */
export interface EditLayout {
  /** Safe for a terminal; may have colours. */
  readonly prompt: string;
  /** Of the terminal. */
  readonly columns: number;
  readonly rows: number;
}

/** A line laid out. */
export interface EditView {
  /** Never empty; none is as wide as the terminal. */
  readonly rows: readonly string[];
  /** Row and column of the cursor, 0-based. */
  readonly cursor: { readonly row: number; readonly column: number };
}

/** Stands before the second and further lines of a text. */
const CONTINUED = "… ";

/** Lays a line out. */
export function layOut(state: EditState, { prompt, columns, rows }: EditLayout): EditView {
  const first = state.search === null ? prompt : searchPrompt(state.search.query);
  const paper = createPaper(first, Math.max(1, columns - 1));
  state.cells.forEach((cell, at) => {
    if (at === state.cursor) paper.mark(cell);
    paper.put(cell);
  });
  const view = paper.finish(state.cursor >= state.cells.length);
  return windowed(view, Math.max(1, rows - 1));
}

function searchPrompt(query: string): string {
  return `(search) ${query}: `;
}

interface Paper {
  put(cell: LineCell): void;
  /** The cursor stands before this cell. */
  mark(cell: LineCell): void;
  finish(isAtEnd: boolean): EditView;
}

/** Rows that are written cell by cell, each up to `width` columns. */
function createPaper(prompt: string, width: number): Paper {
  const rows: string[] = [prompt];
  let column = displayWidth(stripVTControlCharacters(prompt));
  let cursor = { row: 0, column };
  const feed = (start = ""): void => {
    rows.push(start);
    column = displayWidth(start);
  };
  const makeRoom = (needed: number): void => {
    if (column > 0 && column + needed > width) feed();
  };
  const put = (text: string): void => {
    const needed = displayWidth(text);
    makeRoom(needed);
    rows[rows.length - 1] += text;
    column += needed;
  };
  const mark = (needed: number): void => {
    makeRoom(needed);
    cursor = { row: rows.length - 1, column };
  };
  return {
    put: ({ shown }) => {
      if (shown === LINE_FEED.shown) feed(width > CONTINUED.length ? CONTINUED : "");
      else if (shown.length <= 2) put(shown);
      else for (const character of shown) put(character);
    },
    mark: ({ shown }) => mark(shown === LINE_FEED.shown ? 0 : displayWidth(shown.slice(0, 2))),
    finish(isAtEnd) {
      if (isAtEnd) mark(0);
      return { rows, cursor };
    },
  };
}

/** The rows around the cursor, where there are more than fit. */
function windowed({ rows, cursor }: EditView, height: number): EditView {
  if (rows.length <= height) return { rows, cursor };
  const from = Math.max(0, Math.min(rows.length - height, cursor.row - Math.floor(height / 2)));
  return { rows: rows.slice(from, from + height), cursor: { ...cursor, row: cursor.row - from } };
}
