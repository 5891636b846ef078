// One line of input with editing, history and completion: node:readline over the keys of the chat's terminal. A reader is
// made for each line, so that what is typed after Enter waits for the next one.
import { createInterface, type Interface } from "node:readline";
import { Readable, Writable } from "node:stream";
import { CTRL_C, type KeyInput, type KeyReader } from "./key-input.ts";
import { firstKeys, type PastedTexts } from "./pasted-text.ts";

/** What stands for the line: the candidates, and the part of the line that they replace. */
export type LineCompletion = readonly [candidates: readonly string[], replaced: string];

/** Where lines are typed. */
export interface LineScreen {
  /** Writes text; of what steers the terminal only colours pass. */
  write(text: string): void;
  /** Draws the line of input: sequences that move the cursor and set modes pass. */
  draw(sequences: string): void;
  /** Columns now. */
  columns(): number;
}

export interface LineOptions {
  /** Safe for a terminal; may have colours. */
  readonly prompt: string;
  /** Earlier lines, newest first. */
  readonly history?: readonly string[];
  complete?(line: string): Promise<LineCompletion>;
}

/** A line that was typed, or how the typing ended. */
export type TypedLine =
  | { readonly kind: "line"; readonly text: string }
  /** Ctrl-C; `text` = what stood in the line. */
  | { readonly kind: "interrupted"; readonly text: string }
  /** Ctrl-D in an empty line, or the terminal is gone. */
  | { readonly kind: "end" };

/** Where one line is read from. */
export interface LineInput {
  readonly keys: KeyInput;
  readonly screen: LineScreen;
  readonly pasted: PastedTexts;
}

/** Reads one line. Pasted texts stand in it by their names. */
export function readLine({ keys, screen, pasted }: LineInput, options: LineOptions): Promise<TypedLine> {
  return new Promise((resolve) => {
    const typed = new Readable({ objectMode: true, read: () => undefined });
    const editor = openEditor(typed, screen, options);
    let done = false;
    const reader: KeyReader = {
      take(text) {
        if (done) return 0;
        const first = firstKeys(text);
        if (first.length > 0) pushKeys(typed, keysFor(first, pasted));
        // What follows Enter belongs to the next line.
        done = first.kind === "enter" || text.slice(0, first.length).includes(CTRL_C);
        return first.length;
      },
      end: () => finish({ kind: "end" }),
      redraw: () => editor.prompt(true),
    };
    const finish = (line: TypedLine): void => {
      done = true;
      editor.removeAllListeners();
      editor.close();
      resolve(line);
      keys.drop(reader);
    };
    editor.once("line", (text) => finish({ kind: "line", text }));
    editor.once("SIGINT", () => {
      const text = editor.line;
      screen.write("^C\n");
      finish({ kind: "interrupted", text });
    });
    editor.once("close", () => {
      screen.write("\n");
      finish({ kind: "end" });
    });
    editor.prompt();
    keys.push(reader);
  });
}

/** Keys as readline is to see them: a paste as the text that stands for it. */
function keysFor(first: ReturnType<typeof firstKeys>, pasted: PastedTexts): string {
  if (first.kind === "pasted") return pasted.nameOf(first.text);
  return first.kind === "typed" ? first.text : "\r";
}

/** Longest text that is edited key by key; redrawing a longer one at each takes too long. */
const KEY_BY_KEY = 2000;

/** Of keys that come at once, readline puts all but the last at the end of the line, wherever the cursor stands. */
function pushKeys(typed: Readable, keys: string): void {
  for (const key of keys.length > KEY_BY_KEY ? [keys] : keys) typed.push(key);
}

function openEditor(typed: Readable, screen: LineScreen, { prompt, history = [], complete }: LineOptions): Interface {
  const drawn = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, taken) {
      screen.draw(chunk);
      taken();
    },
  });
  return createInterface({
    input: typed,
    output: Object.defineProperty(drawn, "columns", { get: () => screen.columns() }),
    terminal: true,
    prompt,
    history: [...history],
    historySize: history.length + 1,
    ...(complete === undefined ? {} : { completer: completerOf(complete) }),
  });
}

type Completer = (line: string, answer: (error: Error | null, result?: [string[], string]) => void) => void;

/** What cannot be completed is left as it is: a completion is no reason to fail. */
function completerOf(complete: NonNullable<LineOptions["complete"]>): Completer {
  return (line, answer) => {
    complete(line).then(
      ([candidates, replaced]) => answer(null, [[...candidates], replaced]),
      () => answer(null, [[], line]),
    );
  };
}
