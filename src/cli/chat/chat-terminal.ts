// The terminal of a chat: messages of one or more lines, single keys as answers, and work that Ctrl-C interrupts. It is left
// as it was found, whatever happens.
import { CTRL_C, type KeyInput, type KeyReader, type KeySource, openKeyInput } from "./key-input.ts";
import { type LineCompletion, type LineInput, type LineScreen, readLine, type TypedLine } from "./line-editor.ts";
import { BRACKETS_OFF, BRACKETS_ON, createPastedTexts } from "./pasted-text.ts";

/** Where a chat takes place. */
export interface ChatTerminal {
  /** Writes text that is safe for a terminal. */
  write(text: string): void;
  /** Columns now. */
  columns(): number;
  /**
   * Reads a message: a line that ends in a backslash goes on in the next one. Null when the user leaves: Ctrl-D in an empty
   * line, or Ctrl-C twice with nothing typed between. A single Ctrl-C empties the line.
   */
  readMessage(prompt: string, complete?: (line: string) => Promise<LineCompletion>): Promise<string | null>;
  /** Reads a line that is no message; null for Ctrl-C and Ctrl-D. Ctrl-C interrupts the work that asks, too. */
  readAnswer(prompt: string): Promise<string | null>;
  /** Waits for one of these keys, upper and lower case alike; null for Enter, Escape, Ctrl-C and Ctrl-D. */
  readKey<Key extends string>(keys: readonly Key[]): Promise<Key | null>;
  /** Does work that Ctrl-C interrupts, through the signal; twice ends the program. */
  interruptible<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result>;
  /** Does work that uses the terminal itself, such as a pager. */
  lend<Result>(work: () => Promise<Result>): Promise<Result>;
  close(): void;
}

/** What a chat's terminal is made of. */
export interface TerminalParts {
  readonly source: KeySource;
  readonly screen: LineScreen;
  /** Sends this process to sleep; resolves when it goes on. */
  stop(): Promise<void>;
  /** Ends this process at once, as an interrupt does. */
  kill(): void;
}

/** Lines that are remembered for the arrow keys. */
const HISTORY = 500;

/** Opens the terminal. */
export function openChatTerminal(parts: TerminalParts): ChatTerminal & { readonly keys: KeyInput } {
  const { screen } = parts;
  const keys = openKeyInput(parts.source, parts.stop);
  const lines: LineInput = { keys, screen, pasted: createPastedTexts() };
  const work: { interrupt?: () => void } = {};
  let history: readonly string[] = [];
  const remember = (line: string): void => {
    if (line.trim() !== "" && line !== history[0]) history = [line, ...history].slice(0, HISTORY);
  };
  screen.draw(BRACKETS_ON);
  return {
    keys,
    write: (text) => screen.write(text),
    columns: () => screen.columns(),
    readMessage: (prompt, complete) =>
      readMessage(lines, {
        prompt,
        history: () => history,
        remember,
        ...(complete === undefined ? {} : { complete }),
      }),
    async readAnswer(prompt) {
      const typed = await readLine(lines, { prompt });
      if (typed.kind === "line") return lines.pasted.expand(typed.text);
      if (typed.kind === "interrupted") work.interrupt?.();
      return null;
    },
    readKey: (wanted) => readKey(keys, wanted),
    async interruptible(task) {
      const controller = new AbortController();
      const reader = interruptReader(() => {
        if (controller.signal.aborted) parts.kill();
        screen.write("^C\n");
        controller.abort();
      });
      work.interrupt = () => controller.abort();
      keys.push(reader);
      try {
        return await task(controller.signal);
      } finally {
        delete work.interrupt;
        keys.drop(reader);
      }
    },
    async lend(task) {
      screen.draw(BRACKETS_OFF);
      keys.pause();
      try {
        return await task();
      } finally {
        keys.resume();
        screen.draw(BRACKETS_ON);
      }
    },
    close() {
      keys.close();
      screen.draw(BRACKETS_OFF);
    },
  };
}

interface MessageOptions {
  readonly prompt: string;
  history(): readonly string[];
  remember(line: string): void;
  readonly complete?: (line: string) => Promise<LineCompletion>;
}

async function readMessage(lines: LineInput, options: MessageOptions): Promise<string | null> {
  for (let interrupted = false; ; interrupted = true) {
    const message = await readParts(lines, options);
    if (message.kind === "line") return message.text;
    if (message.kind === "end" || (interrupted && message.text === "")) return null;
    if (message.text === "") lines.screen.write("(Ctrl-C again, or Ctrl-D, leaves)\n");
  }
}

/** Reads lines until one does not go on; gives them as one, or how the last of them ended. */
async function readParts(lines: LineInput, options: MessageOptions): Promise<TypedLine> {
  const { prompt, complete } = options;
  for (let text = ""; ; ) {
    const typed = await readLine(lines, {
      prompt: text === "" ? prompt : CONTINUED,
      history: options.history(),
      ...(complete === undefined ? {} : { complete }),
    });
    if (typed.kind !== "line") return typed.kind === "end" ? typed : { ...typed, text: text + typed.text };
    options.remember(typed.text);
    if (!isContinued(typed.text)) return { kind: "line", text: text + lines.pasted.expand(typed.text) };
    text += `${lines.pasted.expand(typed.text.slice(0, -1))}\n`;
  }
}

const CONTINUED = "… ";

/** An odd number of backslashes at the end: two stand for themselves. */
function isContinued(line: string): boolean {
  return (/\\*$/.exec(line)?.[0].length ?? 0) % 2 === 1;
}

function interruptReader(interrupt: () => void): KeyReader {
  return {
    take(typed) {
      // All else waits for the next prompt; what was typed before Ctrl-C goes with it, as in a shell.
      const at = typed.indexOf(CTRL_C);
      if (at < 0) return 0;
      interrupt();
      return at + 1;
    },
    end: interrupt,
  };
}

/** Enter, Escape, Ctrl-C and Ctrl-D. */
const NEITHER: readonly string[] = ["\r", "\n", "\u001b", CTRL_C, "\u0004"];

function readKey<Key extends string>(keys: KeyInput, wanted: readonly Key[]): Promise<Key | null> {
  return new Promise((resolve) => {
    let done = false;
    const finish = (key: Key | null): void => {
      done = true;
      resolve(key);
      keys.drop(reader);
    };
    const reader: KeyReader = {
      take(typed) {
        if (done) return 0;
        // Several characters at once are a paste, an arrow key, or were typed before the question was seen.
        const found = wanted.find((key) => typed.toLowerCase() === key.toLowerCase());
        if (found !== undefined || NEITHER.includes(typed)) finish(found ?? null);
        return typed.length;
      },
      end: () => finish(null),
    };
    keys.push(reader);
  });
}
