// What is typed at a terminal as keys: pure, so that every sequence is a test. An escape may be the key or the beginning of a
// sequence; only that nothing followed for a moment tells, and nothing that follows the key is lost.
import { StringDecoder } from "node:string_decoder";

/** A key: text as it was typed, a paste whole, or what a key does. */
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

/** What stands first in typed characters. */
export interface FirstKey {
  readonly key: Key;
  /** Characters that it takes, at least 1. */
  readonly length: number;
}

export const CTRL_C = "\u0003";
const ESCAPE = "\u001b";
const PASTE_START = "\u001b[200~";
const PASTE_END = "\u001b[201~";

/** Makes the terminal bracket what is pasted, or no longer. */
export const BRACKETS_ON = "\u001b[?2004h";
export const BRACKETS_OFF = "\u001b[?2004l";

/**
 * Reads the first key of characters that are not empty; null when the rest of it is still to come. `settled` = nothing more
 * came for a moment: an escape is the key then.
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
  // Of any other character the escape was a key of its own: the character stays.
  return alt === undefined ? named("escape", 1) : named(alt, 2);
}

/** A paste whose end does not come must not hold the keyboard: Ctrl-C ends it. */
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
/** Enter with a modifier, where the terminal tells (`modifyOtherKeys`, and the protocol of kitty). */
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

/** Somebody who reads keys. */
export interface KeyReader {
  /**
   * Is handed what was typed; gives what it leaves, which waits: all of it when the rest of a key is still to come. `settled` =
   * nothing more came for a moment.
   */
  take(keys: string, settled: boolean): string;
  /** Nothing will be typed any more. */
  end(): void;
  /** What stood there must be drawn again. `lost` = it is gone: the terminal was another program's meanwhile. */
  redraw?(lost: boolean): void;
}

/** Keys that wait, and their readers. */
interface KeyQueue {
  /** Lets a reader read until it is taken off again; the newest reads first. */
  push(reader: KeyReader): void;
  drop(reader: KeyReader): void;
  /** Types keys as if a person had, e.g. for a signal. */
  type(keys: string): void;
  /** Takes away what waits, for a question that it does not answer. */
  setAside(): string;
  /** Puts it back, before what has been typed since. */
  putBack(keys: string): void;
  /** Lets the reader look again at what waits. */
  wake(): void;
  /** Has the reader draw again what it draws. */
  redraw(lost: boolean): void;
  /** While it is held, what is typed is another program's, and nobody reads. */
  hold(isHeld: boolean): void;
  /** Nothing will be typed any more. */
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
      // A reader may put back what was set aside.
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

// The keyboard of a terminal. It is raw while a chat runs: what is typed during an answer is not echoed into it, and waits for
// the next reader.

/** What is needed of process.stdin. */
export interface KeySource {
  setRawMode?(raw: boolean): unknown;
  on(event: "data" | "end", listener: (chunk: Buffer) => void): unknown;
  off(event: "data" | "end", listener: (chunk: Buffer) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

/** The keys of a terminal. Must be closed: it leaves the terminal as it found it. */
export interface KeyInput extends Omit<KeyQueue, "end" | "hold"> {
  /** Gives the terminal away and stops reading; `resume` takes it back. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** What keys are read with. */
export interface KeyWorld {
  /** Sends this process to sleep, as Ctrl-Z asks; resolves when it goes on. */
  stop(): Promise<void>;
  /** Calls back when nothing more was typed for a moment; gives what calls it off. */
  afterPause(settled: () => void): () => void;
  /** Whole lines are read, as the terminal hands them over: it is no screen. */
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
