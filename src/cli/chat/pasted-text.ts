// Text that is pasted at the prompt. A terminal brackets it, so that its line feeds are no Enter: what has several lines
// stands in the line as `[pasted #1: 12 lines]` and is put back when the message is sent; nothing of it is run or sent early.
import { CTRL_C } from "./key-input.ts";

const START = "\u001b[200~";
const END = "\u001b[201~";

/** Makes the terminal bracket what is pasted, or no longer. */
export const BRACKETS_ON = "\u001b[?2004h";
export const BRACKETS_OFF = "\u001b[?2004l";

/** Longest paste that is shown as it is, in characters. */
const SHOWN_WHOLE = 500;

/** Texts that stand in a line by their names; of one chat. */
export interface PastedTexts {
  /** What stands in the line for a pasted text. */
  nameOf(text: string): string;
  /** Puts the texts back, in the form of typed text: an @ in them names no file. */
  expand(line: string): string;
}

/** Creates an empty collection. */
export function createPastedTexts(): PastedTexts {
  const texts = new Map<string, string>();
  return {
    nameOf(pasted) {
      const text = pasted.replaceAll(/\r\n?/g, "\n");
      if (/^[^\p{Cc}]*$/u.test(text) && text.length <= SHOWN_WHOLE) return text;
      const lines = text.split("\n").length;
      const name = `[pasted #${texts.size + 1}: ${lines} ${lines === 1 ? "line" : "lines"}]`;
      texts.set(name, text);
      return name;
    },
    expand: (line) =>
      line.replaceAll(/\[pasted #\d+: \d+ lines?\]/g, (name) => texts.get(name)?.replaceAll("@", "\\@") ?? name),
  };
}

/** What the first of some keys are. `length` = characters they take; 0 = the rest of them is not there yet. */
export type KeyGroup =
  | { readonly kind: "typed" | "pasted"; readonly text: string; readonly length: number }
  | { readonly kind: "enter"; readonly length: number }
  | { readonly kind: "incomplete"; readonly length: 0 };

const INCOMPLETE: KeyGroup = { kind: "incomplete", length: 0 };

/** Reads what comes first in keys that are not empty: typed text up to Enter or a paste, Enter, or a whole paste. */
export function firstKeys(keys: string): KeyGroup {
  if (keys.startsWith(START)) {
    const end = keys.indexOf(END, START.length);
    if (end < 0) return interrupted(keys);
    return { kind: "pasted", text: keys.slice(START.length, end), length: end + END.length };
  }
  const enter = /^(\r\n|\r|\n)/.exec(keys);
  if (enter !== null) return { kind: "enter", length: enter[0].length };
  const stop = keys.search(ENTER_OR_START);
  if (stop === 0) return INCOMPLETE;
  const text = stop < 0 ? keys : keys.slice(0, stop);
  return { kind: "typed", text, length: text.length };
}

/** Enter, the mark before a paste, or its beginning at the end of what has come; an escape alone is a key. */
const ENTER_OR_START = /[\r\n]|\u001b\[(?:$|2(?:$|0(?:$|0(?:$|~))))/;

/** A paste whose end does not come must not hold the keyboard: Ctrl-C ends it. */
function interrupted(keys: string): KeyGroup {
  const at = keys.indexOf(CTRL_C);
  return at < 0 ? INCOMPLETE : { kind: "typed", text: CTRL_C, length: at + 1 };
}
