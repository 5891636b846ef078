// Draws a line of input over the one that was drawn before, wherever the terminal has put that since.
import { stripVTControlCharacters } from "node:util";
import { displayWidth } from "../frame/display-width.ts";
import type { EditView } from "./edit-view.ts";

/** Where lines are typed. */
export interface LineScreen {
  /** Writes text; of what steers the terminal only colours pass. */
  write(text: string): void;
  /** Draws the line of input: sequences that move the cursor and set modes pass. */
  draw(sequences: string): void;
  /** Now. */
  columns(): number;
  rows(): number;
}

/** What stands on the screen. */
export interface EditScreen {
  /** Draws a view in the place of the last one. */
  draw(view: EditView): void;
  /** Erases the last one; the next one begins in its place. */
  clear(): void;
  /** The last one is gone from the screen, or is to stay: the next one begins where the cursor stands. */
  forget(): void;
}

/** Erases what follows. Not from the first column on: tmux keeps in its history what is erased from the top of the screen. */
const BELOW = " \u001b[J\r";

/** Creates it; nothing is drawn. */
export function createEditScreen(screen: LineScreen): EditScreen {
  let last: EditView | null = null;
  const rowsUp = (): number => (last === null ? 0 : rowsAbove(last, screen.columns()));
  return {
    draw(view) {
      const up = rowsUp();
      const { row, column } = view.cursor;
      const back = view.rows.length - 1 - row;
      screen.draw(`${move(up)}\r${BELOW}${view.rows.join("\r\n")}${move(back)}\u001b[${column + 1}G`);
      last = view;
    },
    clear() {
      screen.draw(`${move(rowsUp())}\r${BELOW}`);
      last = null;
    },
    forget() {
      last = null;
    },
  };
}

/** Rows of the terminal between the first one of a view and its cursor: one that is too wide by now takes several. */
function rowsAbove({ rows, cursor }: EditView, columns: number): number {
  const folded = (width: number): number => Math.floor(Math.max(0, width - 1) / Math.max(1, columns));
  const above = rows.slice(0, cursor.row).map((row) => 1 + folded(displayWidth(stripVTControlCharacters(row))));
  return above.reduce((sum, count) => sum + count, 0) + folded(cursor.column);
}

function move(rowsUp: number): string {
  return rowsUp === 0 ? "" : `\u001b[${rowsUp}A`;
}
