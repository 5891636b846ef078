// The line that is being typed: its text as cells, where the cursor stands, where it is in the history. Values only.
import { isWordCell, LINE_FEED, type LineCell, pastedCells, textOfCells, typedCells } from "./cells.ts";

/** A line of input, of one or more lines of text. */
export interface EditState {
  readonly cells: readonly LineCell[];
  /** Cells before the cursor. */
  readonly cursor: number;
  /** What was deleted last as a whole; Ctrl-Y puts it back. */
  readonly killed: readonly LineCell[];
  /** Pastes that were given a number so far. */
  readonly pastes: number;
  /** Place in the history; null = what stands there is new. */
  readonly recalled: Recalled | null;
  /** The search in the history that is going on. */
  readonly search: HistorySearch | null;
}

interface Recalled {
  /** Position in the history, 0 = newest. */
  readonly at: number;
  /** What was typed before. */
  readonly draft: readonly LineCell[];
}

/** A search with Ctrl-R. */
export interface HistorySearch {
  readonly query: string;
  /** Position of what was found, 0 = newest; null = nothing yet, or nothing has it. */
  readonly at: number | null;
  /** What stood in the line before. */
  readonly before: readonly LineCell[];
}

/** A line that holds a text, the cursor at its end. */
export function createEditState(text = "", pastes = 0): EditState {
  const cells = typedCells(text);
  return { cells, cursor: cells.length, killed: [], pastes, recalled: null, search: null };
}

/** The line with another text, the cursor at its end. */
export function withCells(state: EditState, cells: readonly LineCell[]): EditState {
  return { ...state, cells, cursor: cells.length };
}

/** Inserts text as if it were typed. */
export function insertTyped(state: EditState, text: string): EditState {
  const { cells, cursor } = state;
  const before = cells[cursor - 1];
  // A mark may belong to the character before it.
  const joins = before !== undefined && before.isPasted !== true && before !== LINE_FEED && /^\P{ASCII}/u.test(text);
  const from = joins ? cursor - 1 : cursor;
  const inserted = typedCells(joins ? before.text + text : text);
  return {
    ...state,
    cells: [...cells.slice(0, from), ...inserted, ...cells.slice(cursor)],
    cursor: from + inserted.length,
  };
}

/** Inserts a paste. */
export function insertPaste(state: EditState, text: string): EditState {
  const inserted = pastedCells(text, state.pastes + 1);
  const [first] = inserted;
  const pastes =
    first !== undefined && first.text !== first.shown && first.shown.startsWith("[pasted #")
      ? state.pastes + 1
      : state.pastes;
  return { ...insertCells(state, inserted), pastes };
}

/** Inserts cells. */
export function insertCells(state: EditState, inserted: readonly LineCell[]): EditState {
  const { cells, cursor } = state;
  return {
    ...state,
    cells: [...cells.slice(0, cursor), ...inserted, ...cells.slice(cursor)],
    cursor: cursor + inserted.length,
  };
}

/** Where the line of the cursor begins. */
export function lineStart({ cells, cursor }: EditState): number {
  let at = cursor;
  while (at > 0 && cells[at - 1] !== LINE_FEED) at--;
  return at;
}

/** Where the line of the cursor ends. */
export function lineEnd({ cells, cursor }: EditState): number {
  let at = cursor;
  while (at < cells.length && cells[at] !== LINE_FEED) at++;
  return at;
}

/** Where the word before the cursor begins. */
export function wordStart({ cells, cursor }: EditState): number {
  let at = cursor;
  while (at > 0 && !isWordCell(cells[at - 1] as LineCell)) at--;
  while (at > 0 && isWordCell(cells[at - 1] as LineCell)) at--;
  return at;
}

/** Where the word after the cursor ends. */
export function wordEnd({ cells, cursor }: EditState): number {
  let at = cursor;
  while (at < cells.length && !isWordCell(cells[at] as LineCell)) at++;
  while (at < cells.length && isWordCell(cells[at] as LineCell)) at++;
  return at;
}

/** The text of a line as it is sent. */
export function textOf({ cells }: EditState): string {
  return textOfCells(cells);
}
