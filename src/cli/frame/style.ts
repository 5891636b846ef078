// Colours with a switch. Only text that is safe for a terminal is coloured; should a cast have lied, `onlyColors` stops it.
import { styleText } from "node:util";
import { forTerminal, type SafeText } from "../../core/safe-text.ts";

/** Colours a text. */
export type Paint = (text: SafeText) => SafeText;

/** Colours nothing. */
export const unpainted: Paint = (text) => text;

/** Colours by what they mean here; each gives its text back unchanged when colours are off. */
export interface Style {
  readonly enabled: boolean;
  readonly heading: Paint;
  readonly emphasis: Paint;
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
    enabled
      ? (text) => (text === "" ? text : (styleText(format, text, { validateStream: false }) as SafeText))
      : (text) => text;
  return {
    enabled,
    heading: paint("bold"),
    emphasis: paint("italic"),
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

/** The sequences that `createStyle` makes: bold, dim, italic, inverse, foreground colours, and their ends. */
const COLOR = /(\u001b\[(?:[1237]|2[237]|3[1-69])m)/;

/** Makes text safe for a terminal, all but the colours in it. */
export function onlyColors(text: string): SafeText {
  if (!text.includes("\u001b")) return forTerminal(text);
  return text
    .split(COLOR)
    .map((piece, index) => (index % 2 === 1 ? piece : forTerminal(piece)))
    .join("") as SafeText;
}
