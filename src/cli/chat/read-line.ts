// Reads one text at the terminal: keys → state (pure) → rows on the screen. Keys after Enter wait for the next reader.
import { stripVTControlCharacters } from "node:util";
import { forTerminalLine, safe } from "../../core/safe-text.ts";
import { displayWidth } from "../frame/terminal.ts";
import {
  applyCompletion,
  createEditState,
  type EditEffect,
  type EditState,
  insertTyped,
  LINE_FEED,
  type LineCell,
  type LineCompletion,
  pressKey,
  textBeforeCursor,
  textOf,
} from "./edit-line.ts";
import { CTRL_C, type KeyInput, type KeyReader, readKey } from "./keys.ts";

export interface LineOptions {
  /** Safe for a terminal; may have colours. */
  readonly prompt: string;
  /** The initial text. */
  readonly text?: string;
  /** Earlier texts, newest first. */
  readonly history?: readonly string[];
  /** Whether Escape ends the reading as Ctrl-C does. */
  readonly escapes?: boolean;
  complete?(before: string): Promise<LineCompletion>;
  /** Edits the text in an editor; null = unchanged. */
  external?(text: string): Promise<string | null>;
}

/** A text that was typed, or how the typing ended. */
export type TypedLine =
  | { readonly kind: "line"; readonly text: string }
  /** Ctrl-C; `text` = the text of the line. */
  | { readonly kind: "interrupted"; readonly text: string }
  /** Ctrl-D in an empty line, or the terminal is gone. */
  | { readonly kind: "end" };

/** Where a line is read from. */
export interface LineInput {
  readonly keys: KeyInput;
  readonly screen: LineScreen;
  /** Pastes of this chat that were given a number. */
  pastes: number;
}

/** Reads one text. */
export function readLine(input: LineInput, options: LineOptions): Promise<TypedLine> {
  return new Promise((resolve) => {
    const line = new LineReading(input, options, (typed) => {
      resolve(typed);
      input.keys.drop(line);
    });
    line.draw();
    input.keys.push(line);
  });
}

const CLEAR_SCREEN = "\u001b[2J\u001b[H";

/** One line while it is typed. */
class LineReading implements KeyReader {
  readonly #input: LineInput;
  readonly #options: LineOptions;
  readonly #finish: (typed: TypedLine) => void;
  readonly #screen: ReturnType<typeof createEditScreen>;
  #state: EditState;
  /** The asynchronous effect of a key; later keys wait for it. */
  #busy = false;
  #done = false;

  constructor(input: LineInput, options: LineOptions, finish: (typed: TypedLine) => void) {
    this.#input = input;
    this.#options = options;
    this.#finish = finish;
    this.#screen = createEditScreen(input.screen);
    this.#state = createEditState(options.text, input.pastes);
  }

  take(typed: string, settled: boolean): string {
    let rest = typed;
    while (rest !== "" && !this.#busy && !this.#done) {
      const first = readKey(rest, settled);
      if (first === null) break;
      rest = rest.slice(first.length);
      const { state, effect } = pressKey(this.#state, first.key, this.#options.history);
      this.#state = state;
      if (effect !== undefined) this.#answer(effect);
    }
    if (rest !== typed && !this.#busy && !this.#done) this.draw();
    return rest;
  }

  end(): void {
    if (!this.#done) this.#leave("\n", { kind: "end" });
  }

  redraw(lost: boolean): void {
    if (lost) this.#screen.forget();
    this.draw();
  }

  draw(): void {
    const { screen } = this.#input;
    const { prompt } = this.#options;
    this.#screen.draw(layOut(this.#state, { prompt, columns: screen.columns(), rows: screen.rows() }));
  }

  #answer(effect: EditEffect): void {
    const text = textOf(this.#state);
    if (effect === "submit") this.#leave("\n", { kind: "line", text });
    else if (effect === "interrupt") this.#leave("^C\n", { kind: "interrupted", text });
    else if (effect === "leave") this.#leave("\n", { kind: "end" });
    else if (effect === "escape" && this.#options.escapes === true) this.#leave("\n", { kind: "interrupted", text });
    else if (effect === "complete") this.#wait(this.#complete());
    else if (effect === "external") this.#wait(this.#edit(text));
    else if (effect === "clear") {
      this.#screen.forget();
      this.#input.screen.draw(CLEAR_SCREEN);
    }
  }

  /** Draws the whole text and leaves the cursor below it. */
  #leave(mark: string, typed: TypedLine): void {
    this.#state = { ...this.#state, search: null, cursor: this.#state.cells.length };
    this.draw();
    this.#done = true;
    this.#input.pastes = this.#state.pastes;
    this.#input.screen.write(mark);
    this.#finish(typed);
  }

  /** Ignores failures of completion and editing: the line stays as it is. */
  #wait(work: Promise<void>): void {
    this.#busy = true;
    void work
      .catch(() => undefined)
      .then(() => {
        this.#busy = false;
        if (this.#done) return;
        this.draw();
        this.#input.keys.wake();
      });
  }

  async #complete(): Promise<void> {
    const completion = await this.#options.complete?.(textBeforeCursor(this.#state));
    if (completion === undefined || this.#done) return;
    const { state, listed } = applyCompletion(this.#state, completion);
    this.#state = state;
    if (listed.length > 0) this.#list(listed);
  }

  /** Shows candidates below the line, and the line again below them. */
  #list(candidates: readonly string[]): void {
    const shown = candidates.slice(0, MOST_LISTED).map((candidate) => forTerminalLine(candidate));
    if (candidates.length > shown.length) shown.push(safe`… ${candidates.length - shown.length} more`);
    const typed = this.#state;
    this.#state = { ...typed, cursor: typed.cells.length };
    this.draw();
    this.#state = typed;
    this.#input.screen.write(`\n${shown.join("\n")}\n`);
    this.#screen.forget();
  }

  async #edit(text: string): Promise<void> {
    const { external } = this.#options;
    if (external === undefined) return;
    this.#screen.clear();
    const edited = await external(text);
    this.#screen.forget();
    if (edited === null || this.#done) return;
    const empty = { ...createEditState("", this.#state.pastes), killed: this.#state.killed };
    this.#state = insertTyped(empty, edited.replace(/\n+$/, ""));
  }
}

const MOST_LISTED = 20;

interface LineScreen {
  /** Writes text; of control sequences only colours pass. */
  write(text: string): void;
  /** Draws the line of input: sequences that move the cursor and set modes pass. */
  draw(sequences: string): void;
  columns(): number;
  rows(): number;
}

interface EditScreen {
  /** Replaces the last view. */
  draw(view: EditView): void;
  /** Erases the last view. */
  clear(): void;
  /** Forgets the last view: the next one is drawn at the cursor. */
  forget(): void;
}

/** Erases below the cursor. Not from the first column: tmux keeps in its history what is erased from the top of the screen. */
const BELOW = " \u001b[J\r";

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

/** Counts the terminal's rows above the cursor of a view: on a terminal that became narrower a row takes several. */
function rowsAbove({ rows, cursor }: EditView, columns: number): number {
  const folded = (width: number): number => Math.floor(Math.max(0, width - 1) / Math.max(1, columns));
  const above = rows.slice(0, cursor.row).map((row) => 1 + folded(displayWidth(stripVTControlCharacters(row))));
  return above.reduce((sum, count) => sum + count, 0) + folded(cursor.column);
}

function move(rowsUp: number): string {
  return rowsUp === 0 ? "" : `\u001b[${rowsUp}A`;
}

interface EditLayout {
  /** Safe for a terminal; may have colours. */
  readonly prompt: string;
  /** Size of the terminal. */
  readonly columns: number;
  readonly rows: number;
}

interface EditView {
  /** Never empty; none is as wide as the terminal. */
  readonly rows: readonly string[];
  /** Row and column of the cursor, 0-based. */
  readonly cursor: { readonly row: number; readonly column: number };
}

/** Before the second and later lines of a text. */
const CONTINUED = "… ";

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
  /** Puts the cursor before the next cell. */
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

/** Returns the rows around the cursor that fit. */
function windowed({ rows, cursor }: EditView, height: number): EditView {
  if (rows.length <= height) return { rows, cursor };
  const from = Math.max(0, Math.min(rows.length - height, cursor.row - Math.floor(height / 2)));
  return { rows: rows.slice(from, from + height), cursor: { ...cursor, row: cursor.row - from } };
}

/** Reads one line; a backslash at the end continues it in the next one. */
export function readPlainLine({ keys, screen }: LineInput, prompt: string): Promise<TypedLine> {
  return new Promise((resolve) => {
    let text = "";
    const finish = (typed: TypedLine): void => {
      resolve(typed);
      keys.drop(reader);
    };
    const reader: KeyReader = {
      take(typed) {
        const end = typed.search(/[\n\u0003]/);
        if (end < 0) return typed;
        text += typed.slice(0, end);
        const rest = typed.slice(end + 1);
        if (typed[end] === CTRL_C) {
          screen.write("\n");
          finish({ kind: "interrupted", text });
        } else if (isContinued(text)) {
          text = `${text.slice(0, -1)}\n`;
          screen.write("... ");
        } else finish({ kind: "line", text });
        return rest;
      },
      end: () => finish({ kind: "end" }),
    };
    screen.write(prompt);
    keys.push(reader);
  });
}

/** Whether a line ends in an odd number of backslashes: two are literal. */
function isContinued(text: string): boolean {
  return (/\\*$/.exec(text)?.[0].length ?? 0) % 2 === 1;
}
