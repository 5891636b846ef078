// The terminal of a chat: messages of one or more lines, single keys as answers, and work that Ctrl-C and Esc interrupt. Its
// mode is always restored.
import { raiseSignal, suspendProcess } from "../../core/process-signals.ts";
import { safe } from "../../core/safe-text.ts";
import type { Output } from "../frame/output.ts";
import { type Screen, screenOf } from "../frame/screen.ts";
import type { LineCompletion } from "./edit-line.ts";
import {
  BRACKETS_OFF,
  BRACKETS_ON,
  CTRL_C,
  type Key,
  type KeyInput,
  type KeyName,
  type KeyReader,
  type KeySource,
  type KeyWorld,
  openKeyInput,
  readKey,
} from "./keys.ts";
import { type LineInput, type LineOptions, readLine, readPlainLine, type TypedLine } from "./read-line.ts";

interface MessageOptions {
  /** The initial text. */
  readonly text?: string;
  complete?(before: string): Promise<LineCompletion>;
  /** Edits the message in an editor; null = unchanged. */
  external?(text: string): Promise<string | null>;
}

/** The terminal of a chat; drawing does nothing if it is plain. */
export interface ChatTerminal extends Screen {
  /** Whether the terminal itself edits lines and cannot redraw. */
  readonly plain: boolean;
  /**
   * Reads a message. Null if the user leaves: Ctrl-D in an empty line, or Ctrl-C twice with nothing typed in between. A single
   * Ctrl-C clears the line.
   */
  readMessage(prompt: string, options?: MessageOptions): Promise<string | null>;
  /** Reads an answer to a question; null for Ctrl-C, Escape and Ctrl-D. The first two also interrupt the work that asks. */
  readAnswer(prompt: string): Promise<string | null>;
  /** Waits for one of these keys, upper and lower case alike; null for Enter, Escape and Ctrl-D. */
  readKey<Name extends string>(keys: readonly Name[]): Promise<Name | "interrupt" | null>;
  /** Does work that Ctrl-C or Escape interrupts, through the signal; Ctrl-C twice ends the program. */
  interruptible<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result>;
  /** Does work that uses the terminal itself, such as a pager. */
  lend<Result>(work: () => Promise<Result>): Promise<Result>;
  close(): void;
}

interface TerminalParts extends KeyWorld {
  readonly source: KeySource;
  readonly screen: Screen;
  /** Texts typed before, newest first; grows. */
  readonly history: MessageHistory;
  /** Ends this process at once, as SIGINT does. */
  kill(): void;
}

export interface MessageHistory {
  /** Newest first. */
  list(): readonly string[];
  add(text: string): void;
}

/** Opens the terminal. */
export function openChatTerminal(parts: TerminalParts): ChatTerminal & { readonly keys: KeyInput } {
  const { screen, plain } = parts;
  const keys = openKeyInput(parts.source, parts);
  const input: LineInput = { keys, screen, pastes: 0 };
  const work: { interrupt?: () => void } = {};
  const draw = (sequences: string): void => (plain ? undefined : screen.draw(sequences));
  const read = (options: LineOptions): Promise<TypedLine> =>
    plain ? readPlainLine(input, options.prompt) : readLine(input, options);
  draw(BRACKETS_ON);
  const terminal: ChatTerminal = {
    plain,
    write: (text) => screen.write(text),
    draw,
    columns: () => screen.columns(),
    rows: () => screen.rows(),
    every: (milliseconds, tick) => screen.every(milliseconds, tick),
    readMessage: (prompt, options = {}) => readMessage(parts, read, { ...options, prompt }),
    async readAnswer(prompt) {
      // Keys typed before the question was shown do not answer it.
      const aside = keys.setAside();
      const typed = await read({ prompt, escapes: true });
      keys.putBack(aside);
      if (typed.kind === "interrupted") work.interrupt?.();
      return typed.kind === "line" ? typed.text : null;
    },
    readKey: (wanted) => readOneKey(keys, wanted, plain),
    async interruptible(task) {
      const controller = new AbortController();
      const reader = interruptReader((isForced) => {
        if (controller.signal.aborted) return isForced ? parts.kill() : undefined;
        // Listeners of the signal end an unfinished line.
        controller.abort();
        if (isForced) screen.write(safe`^C\n`);
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
      draw(BRACKETS_OFF);
      keys.pause();
      try {
        return await task();
      } finally {
        keys.resume();
        draw(BRACKETS_ON);
      }
    },
    close() {
      keys.close();
      draw(BRACKETS_OFF);
    },
  };
  return { ...terminal, keys };
}

async function readMessage(
  { screen, history }: TerminalParts,
  read: (options: LineOptions) => Promise<TypedLine>,
  options: LineOptions,
): Promise<string | null> {
  const { text: _first, ...later } = options;
  for (let interrupted = false; ; interrupted = true) {
    const typed = await read({ ...(interrupted ? later : options), history: history.list() });
    if (typed.kind === "end" || (typed.kind === "interrupted" && interrupted && typed.text === "")) return null;
    if (typed.kind === "line") {
      history.add(typed.text);
      return typed.text;
    }
    if (typed.text === "") screen.write(safe`(Ctrl-C again, or Ctrl-D, leaves)\n`);
  }
}

/** Reads only Ctrl-C and Escape; other keys wait for the next prompt. Ctrl-C drops keys typed before it, as in a shell. */
function interruptReader(interrupt: (isForced: boolean) => void): KeyReader {
  return {
    take(typed, settled) {
      for (let at = 0; at < typed.length; ) {
        const first = readKey(typed.slice(at), settled);
        if (first === null) break;
        const { key, length } = first;
        at += length;
        if (key.kind !== "named") continue;
        if (key.name === "interrupt") {
          interrupt(true);
          return typed.slice(at);
        }
        if (key.name === "escape") {
          interrupt(false);
          return typed.slice(0, at - length) + typed.slice(at);
        }
      }
      return typed;
    },
    end: () => interrupt(false),
  };
}

function readOneKey<Name extends string>(
  keys: KeyInput,
  wanted: readonly Name[],
  plain: boolean,
): Promise<Name | "interrupt" | null> {
  return new Promise((resolve) => {
    const finish = (key: Name | "interrupt" | null): void => {
      resolve(key);
      keys.drop(reader);
    };
    const reader: KeyReader = {
      take(typed, settled) {
        const first = readKey(typed, settled);
        if (first === null) return typed;
        const rest = typed.slice(first.length);
        const answer = answerOf(first.key, rest, wanted);
        if (answer === undefined) return rest;
        finish(answer);
        // A terminal that edits its lines sends the whole line.
        return plain ? "" : rest;
      },
      end: () => finish(null),
    };
    keys.push(reader);
  });
}

/** Returns the answer of a key; undefined if it is none. Several characters at once were typed before the question was shown. */
function answerOf<Name extends string>(
  key: Key,
  rest: string,
  wanted: readonly Name[],
): Name | "interrupt" | null | undefined {
  if (key.kind === "named") return ENDS[key.name];
  if (key.kind === "paste" || !/^[\r\n]?$/.test(rest)) return undefined;
  return wanted.find((name) => name.toLowerCase() === key.text.toLowerCase());
}

/** Keys that end a question without an answer. */
const ENDS: Partial<Record<KeyName, "interrupt" | null>> = {
  enter: null,
  newline: null,
  escape: null,
  "end-of-input": null,
  interrupt: "interrupt",
};

/** Whether standard input and output are a terminal. */
export function hasTerminal(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/** An escape followed by nothing for so long is the key, milliseconds: sequences come faster, even over a network. */
const ESCAPE_MS = 50;

/** Opens the terminal of this process. Must be closed. `plain` = it cannot redraw (TERM=dumb). */
export function openProcessTerminal(
  output: Pick<Output, "raw" | "control">,
  { history, plain }: { readonly history: MessageHistory; readonly plain: boolean },
): ChatTerminal {
  const terminal = openChatTerminal({
    source: process.stdin,
    screen: screenOf(output),
    history,
    plain,
    stop: () => suspendProcess(process),
    afterPause: (settled) => {
      const timer = setTimeout(settled, ESCAPE_MS);
      return () => clearTimeout(timer);
    },
    kill: () => {
      close();
      raiseSignal(process, "SIGINT");
    },
  });
  // SIGINT of another program, or of a plain terminal, counts as a typed Ctrl-C.
  const interrupt = (): void => terminal.keys.type(CTRL_C);
  const resized = (): void => terminal.keys.redraw(false);
  const close = (): void => {
    process.off("SIGINT", interrupt);
    process.stdout.off("resize", resized);
    terminal.close();
  };
  process.on("SIGINT", interrupt);
  process.stdout.on("resize", resized);
  return { ...terminal, close };
}

/** Most messages kept. */
const REMEMBERED = 500;

/** Creates a history of messages typed before, newest first; `keep` stores each new one. */
export function createHistory(
  earlier: readonly string[] = [],
  keep: (text: string) => void = () => undefined,
): MessageHistory {
  let texts = earlier.slice(0, REMEMBERED);
  return {
    list: () => texts,
    add(text) {
      if (text.trim() === "" || text === texts[0]) return;
      texts = [text, ...texts].slice(0, REMEMBERED);
      keep(text);
    },
  };
}
