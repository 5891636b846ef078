// Parses typed characters into keys: pure, so that every sequence can be tested. An escape may be the key or begin a sequence:
// it is the key if nothing follows for a moment, and nothing typed after it is lost.
import { StringDecoder } from "node:string_decoder";

/** A key: typed text, a whole paste, or a named key. */
export type Key =
  | { readonly kind: "text" | "paste"; readonly text: string }
  | { readonly kind: "named"; readonly name: KeyName };

export type KeyName =
  | "enter"
  | "newline"
  | "escape"
  | "interrupt"
  | "end-of-input"
  | "left"
  | "right"
  | "up"
  | "down"
  | "home"
  | "end"
  | "word-left"
  | "word-right"
  | "backspace"
  | "delete"
  | "delete-word-left"
  | "delete-word-right"
  | "delete-to-start"
  | "delete-to-end"
  | "yank"
  | "tab"
  | "search"
  | "external"
  | "clear"
  /** A sequence or control character that means nothing here. */
  | "ignored";

/** The first key of typed characters. */
export interface FirstKey {
  readonly key: Key;
  /** Characters that it takes, at least 1. */
  readonly length: number;
}

export const CTRL_C = "\u0003";
const ESCAPE = "\u001b";
const PASTE_START = "\u001b[200~";
const PASTE_END = "\u001b[201~";

/** Turns bracketed paste of the terminal on or off. */
export const BRACKETS_ON = "\u001b[?2004h";
export const BRACKETS_OFF = "\u001b[?2004l";

/**
 * Reads the first key of characters that are not empty; null if the rest of it is still to come. `settled` = nothing more
 * came for a moment, so an escape is the key.
 */
export function readKey(typed: string, settled: boolean): FirstKey | null {
  if (typed.startsWith(ESCAPE)) return readEscape(typed, settled);
  const control = CONTROLS[typed.charAt(0)];
  if (control !== undefined) return named(control, typed.startsWith("\r\n") ? 2 : 1);
  const text = PRINTABLE.exec(typed)?.[0];
  return text === undefined ? named("ignored", 1) : { key: { kind: "text", text }, length: text.length };
}

const PRINTABLE = /^[^\u0000-\u001f\u007f-\u009f]+/;

const CONTROLS: Readonly<Record<string, KeyName>> = {
  "\u0001": "home",
  "\u0002": "left",
  [CTRL_C]: "interrupt",
  "\u0004": "end-of-input",
  "\u0005": "end",
  "\u0006": "right",
  "\u0007": "external",
  "\b": "backspace",
  "\t": "tab",
  "\n": "newline",
  "\u000b": "delete-to-end",
  "\f": "clear",
  "\r": "enter",
  "\u000e": "down",
  "\u0010": "up",
  "\u0012": "search",
  "\u0015": "delete-to-start",
  "\u0017": "delete-word-left",
  "\u0019": "yank",
  "\u007f": "backspace",
};

/** What follows an escape when Alt is held. */
const WITH_ALT: Readonly<Record<string, KeyName>> = {
  "\r": "newline",
  "\n": "newline",
  b: "word-left",
  f: "word-right",
  d: "delete-word-right",
  "\u007f": "delete-word-left",
  "\b": "delete-word-left",
};

/** A whole sequence of a key (ECMA-48 §5.4; SS3 in application mode), and the beginning of one. */
const SEQUENCE = /^\u001b(?:\[[0-?]*[ -/]*[@-~]|O[A-Za-z])/;
const BEGINNING = /^\u001b(?:\[[0-?]*[ -/]*|O)?$/;

function readEscape(typed: string, settled: boolean): FirstKey | null {
  if (typed.startsWith(PASTE_START)) return readPaste(typed);
  const sequence = SEQUENCE.exec(typed)?.[0];
  if (sequence !== undefined) return named(nameOfSequence(sequence), sequence.length);
  if (BEGINNING.test(typed)) return settled ? named("escape", 1) : null;
  const alt = WITH_ALT[typed.charAt(1)];
  // Before any other character the escape was a key of its own: the character stays.
  return alt === undefined ? named("escape", 1) : named(alt, 2);
}

/** Ctrl-C ends a paste whose end never comes, so that it cannot block the keyboard. */
function readPaste(typed: string): FirstKey | null {
  const end = typed.indexOf(PASTE_END, PASTE_START.length);
  if (end >= 0) {
    const text = typed.slice(PASTE_START.length, end).replaceAll(/\r\n?/g, "\n");
    return { key: { kind: "paste", text }, length: end + PASTE_END.length };
  }
  const at = typed.indexOf(CTRL_C);
  return at < 0 ? null : named("interrupt", at + 1);
}

const BY_LETTER: Readonly<Record<string, KeyName>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  H: "home",
  F: "end",
};
const BY_NUMBER: Readonly<Record<string, KeyName>> = { 1: "home", 3: "delete", 4: "end", 7: "home", 8: "end" };
const WITH_MODIFIER: Partial<Record<KeyName, KeyName>> = {
  left: "word-left",
  right: "word-right",
  delete: "delete-word-right",
};
/** Enter with a modifier, if the terminal reports it (`modifyOtherKeys`, and the protocol of kitty). */
const MODIFIED_ENTER = /^\u001b\[(?:27;\d+;13~|13;\d+u)$/;

function nameOfSequence(sequence: string): KeyName {
  if (MODIFIED_ENTER.test(sequence)) return "newline";
  const last = sequence.at(-1) ?? "";
  const [number = "", modifier = ""] = sequence.slice(2, -1).split(";");
  const plain = last === "~" ? BY_NUMBER[number] : BY_LETTER[last];
  if (plain === undefined) return "ignored";
  return modifier === "" || modifier === "1" ? plain : (WITH_MODIFIER[plain] ?? plain);
}

function named(name: KeyName, length: number): FirstKey {
  return { key: { kind: "named", name }, length };
}

export interface KeyReader {
  /**
   * Reads typed characters and returns those that it leaves in the queue: all of them if a key is incomplete. `settled` =
   * nothing more came for a moment.
   */
  take(keys: string, settled: boolean): string;
  /** The input has ended. */
  end(): void;
  /** Draws again. `lost` = the old drawing is gone, because another program used the terminal. */
  redraw?(lost: boolean): void;
}

/** Typed characters that wait, and their readers. */
interface KeyQueue {
  /** Adds a reader until it is dropped; the newest reads first. */
  push(reader: KeyReader): void;
  drop(reader: KeyReader): void;
  /** Adds keys as if a person had typed them, e.g. for a signal. */
  type(keys: string): void;
  /** Removes the waiting characters, so that they do not answer a question. */
  setAside(): string;
  /** Puts removed characters back before newer ones. */
  putBack(keys: string): void;
  /** Lets the reader read the waiting characters again. */
  wake(): void;
  /** Lets the reader draw again. */
  redraw(lost: boolean): void;
  /** While held, another program gets the keys and no reader is called. */
  hold(isHeld: boolean): void;
  /** The input has ended. */
  end(): void;
}

/** Creates an empty queue. */
function createKeyQueue(afterPause: (settled: () => void) => () => void): KeyQueue {
  const readers: KeyReader[] = [];
  let waiting = "";
  let isEnded = false;
  let isHeld = false;
  let isReading = false;
  let cancel = (): void => undefined;
  const read = (settled: boolean): void => {
    cancel();
    if (isReading || isHeld) return;
    isReading = true;
    for (let before = ""; waiting !== "" && waiting !== before; ) {
      before = waiting;
      // A reader may put characters back.
      waiting = "";
      const left = readers.at(-1)?.take(before, settled) ?? before;
      waiting += left;
    }
    isReading = false;
    if (waiting !== "" && !settled) cancel = afterPause(() => read(true));
  };
  return {
    push(reader) {
      readers.push(reader);
      if (isEnded) reader.end();
      read(false);
    },
    drop(reader) {
      const at = readers.lastIndexOf(reader);
      if (at >= 0) readers.splice(at, 1);
      read(false);
    },
    type(keys) {
      if (isHeld) return;
      waiting += keys;
      read(false);
    },
    setAside() {
      const aside = waiting;
      waiting = "";
      return aside;
    },
    putBack(keys) {
      waiting = keys + waiting;
      read(false);
    },
    wake: () => read(false),
    redraw: (lost) => readers.at(-1)?.redraw?.(lost),
    hold(held) {
      isHeld = held;
      read(false);
    },
    end() {
      isEnded = true;
      for (const reader of [...readers]) reader.end();
    },
  };
}

// The keyboard of a terminal, in raw mode while a chat runs: keys typed during an answer are not echoed, and wait for the next
// reader.

export interface KeySource {
  setRawMode?(raw: boolean): unknown;
  on(event: "data" | "end", listener: (chunk: Buffer) => void): unknown;
  off(event: "data" | "end", listener: (chunk: Buffer) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

/** The keys of a terminal. Must be closed, to restore the terminal's mode. */
export interface KeyInput extends Omit<KeyQueue, "end" | "hold"> {
  /** Stops reading and restores the terminal for another program; `resume` continues. */
  pause(): void;
  resume(): void;
  close(): void;
}

export interface KeyWorld {
  /** Suspends this process for Ctrl-Z; resolves when it continues. */
  stop(): Promise<void>;
  /** Calls back if nothing more is typed for a moment; returns a function that cancels it. */
  afterPause(settled: () => void): () => void;
  /** Whether the terminal itself edits lines and sends them whole. */
  readonly plain: boolean;
}

const CTRL_Z = "\u001a";

/** Starts to read keys. */
export function openKeyInput(source: KeySource, { stop, afterPause, plain }: KeyWorld): KeyInput {
  const decoder = new StringDecoder("utf8");
  const queue = createKeyQueue(afterPause);
  const setRaw = (raw: boolean): void => {
    if (!plain) source.setRawMode?.(raw);
  };
  const pause = (): void => {
    queue.hold(true);
    setRaw(false);
    source.pause();
  };
  const resume = (): void => {
    setRaw(true);
    source.resume();
    queue.hold(false);
  };
  const sleep = async (): Promise<void> => {
    setRaw(false);
    await stop();
    setRaw(true);
    queue.redraw(true);
  };
  const onData = (chunk: Buffer): void => {
    const keys = decoder.write(chunk);
    if (keys.includes(CTRL_Z)) void sleep();
    queue.type(keys.replaceAll(CTRL_Z, ""));
  };
  const onEnd = (): void => queue.end();
  source.on("data", onData);
  source.on("end", onEnd);
  resume();
  return {
    ...queue,
    pause,
    resume,
    close() {
      pause();
      source.off("data", onData);
      source.off("end", onEnd);
    },
  };
}
