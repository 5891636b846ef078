// What is typed at a terminal as keys: pure, so that every sequence is a test. An escape may be the key or the beginning of a
// sequence; only that nothing followed for a moment tells, and nothing that follows the key is lost.

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
