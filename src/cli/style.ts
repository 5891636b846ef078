// Colours with a switch, and text made safe for a terminal. Whatever comes from a conversation goes through `plain` or
// `plainLine` before it is printed, so that no control character in it ever reaches the terminal raw.
import { styleText } from "node:util";

type Paint = (text: string) => string;

/** Colours by what they mean here; each gives its text back unchanged when colours are off. */
export interface Style {
  readonly enabled: boolean;
  readonly heading: Paint;
  readonly id: Paint;
  readonly commit: Paint;
  readonly good: Paint;
  readonly bad: Paint;
  readonly caution: Paint;
  readonly faint: Paint;
  readonly removed: Paint;
  readonly added: Paint;
  /** The differing words of a removed or added line. */
  readonly removedWord: Paint;
  readonly addedWord: Paint;
  readonly hunk: Paint;
}

/** What every renderer of text needs to know. An Output is one. */
export interface Rendering {
  readonly style: Style;
  /** Columns of the terminal, or Infinity where nothing limits a line. */
  readonly width: number;
}

type Format = Parameters<typeof styleText>[0];

/** Creates the colours, or none. */
export function createStyle(enabled: boolean): Style {
  const paint = (format: Format): Paint =>
    enabled ? (text) => (text === "" ? "" : styleText(format, text, { validateStream: false })) : (text) => text;
  return {
    enabled,
    heading: paint("bold"),
    id: paint("cyan"),
    commit: paint("yellow"),
    good: paint("green"),
    bad: paint("red"),
    caution: paint("yellow"),
    faint: paint("dim"),
    removed: paint("red"),
    added: paint("green"),
    removedWord: paint(["red", "inverse"]),
    addedWord: paint(["green", "inverse"]),
    hunk: paint("cyan"),
  };
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Decides on colours: FORCE_COLOR beats NO_COLOR beats the terminal (https://no-color.org, https://force-color.org).
 * FORCE_COLOR=0 or =false turns them off; TERM=dumb has none.
 */
export function wantsColor(env: Environment, isTerminal: boolean): boolean {
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined && forced !== "") return forced !== "0" && forced !== "false";
  if (env["NO_COLOR"] !== undefined && env["NO_COLOR"] !== "") return false;
  return isTerminal && env["TERM"] !== "dumb";
}

/** C0 without tab and line feed, DEL, C1, and the marks that reorder text (U+061C, U+200E/F, U+202A–E, U+2066–9). */
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Replaces control characters by visible ones of the same length; tabs and line feeds stay. */
export function plain(text: string): string {
  return text.replace(UNSAFE, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : "\ufffd";
  });
}

/** Makes one safe line of a text: each run of white space becomes a blank, none stands at the ends. */
export function plainLine(text: string): string {
  return plain(text.replace(/\s+/g, " ").trim());
}
