// Reads one text at the terminal: keys → state (pure) → rows on the screen. What is typed after Enter waits for the next reader.
import { forTerminalLine, safe } from "../../core/safe-text.ts";
import { applyCompletion, type LineCompletion, textBeforeCursor } from "./complete-text.ts";
import { createEditScreen, type LineScreen } from "./edit-screen.ts";
import { createEditState, type EditState, insertTyped, textOf } from "./edit-state.ts";
import { layOut } from "./edit-view.ts";
import { readKey } from "./key.ts";
import type { KeyInput } from "./key-input.ts";
import type { KeyReader } from "./key-queue.ts";
import { type EditEffect, pressKey } from "./press-key.ts";

export interface LineOptions {
  /** Safe for a terminal; may have colours. */
  readonly prompt: string;
  /** What stands in the line at first. */
  readonly text?: string;
  /** Earlier texts, newest first. */
  readonly history?: readonly string[];
  /** Escape ends the reading as Ctrl-C does. */
  readonly escapes?: boolean;
  complete?(before: string): Promise<LineCompletion>;
  /** Edits the text elsewhere; null = it is left as it is. */
  external?(text: string): Promise<string | null>;
}

/** A text that was typed, or how the typing ended. */
export type TypedLine =
  | { readonly kind: "line"; readonly text: string }
  /** Ctrl-C; `text` = what stood in the line. */
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
  /** Something that takes time answers a key: the keys after it wait. */
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

  /** Leaves the whole text on the screen, the cursor below it. */
  #leave(mark: string, typed: TypedLine): void {
    this.#state = { ...this.#state, search: null, cursor: this.#state.cells.length };
    this.draw();
    this.#done = true;
    this.#input.pastes = this.#state.pastes;
    this.#input.screen.write(mark);
    this.#finish(typed);
  }

  /** What cannot be completed or edited is left as it is: that is no reason to fail. */
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

  /** Shows candidates below the line, which then stands below them. */
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
