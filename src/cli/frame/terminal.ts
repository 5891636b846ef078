// Text for a terminal: its colours, its width, and the progress line.
import { styleText } from "node:util";
import { forTerminal, forTerminalLine, type SafeText } from "../../core/safe-text.ts";

// Colours, which can be turned off. Only safe text is coloured; `onlyColors` catches text that a cast wrongly called safe.

/** Colours a text. */
export type Paint = (text: SafeText) => SafeText;

/** Colours nothing. */
export const unpainted: Paint = (text) => text;

/** Colours by meaning; each returns its text unchanged when colours are off. */
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

/** What every renderer needs. An Output is one. */
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

/** Makes text safe for a terminal, but keeps its colours. */
export function onlyColors(text: string): SafeText {
  if (!text.includes("\u001b")) return forTerminal(text);
  return text
    .split(COLOR)
    .map((piece, index) => (index % 2 === 1 ? piece : forTerminal(piece)))
    .join("") as SafeText;
}

// How many columns of a terminal a text takes: wide (CJK, emoji) characters two, combining marks none. Text is free of
// control characters here. A test compares it with the package string-width, which takes twice as long to load and to start.

/** Characters of one column that never combine with others: ASCII, Latin, and the signs of jpg's own tables. */
const PLAIN = /^[\x20-\x7e\u00a1-\u00a8\u00aa-\u00ac\u00af-\u024f\u2010-\u2027\u2190-\u2193\u2500-\u259f]*$/;
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}\p{Default_Ignorable_Code_Point}]+$/u;
const EMOJI =
  /(?!\p{Regional_Indicator})\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F|\p{Regional_Indicator}{2}|[\d#*]\uFE0F?\u20E3/u;
/** East Asian Wide and Fullwidth (Unicode Standard Annex 11), but for emoji. */
const WIDE =
  /^[\u1100-\u115e\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\u3163\u3165-\u3247\u3250-\ua4c6\ua960-\ua97c\uac00-\ud7a3\uf900-\ufad9\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{1b2fb}\u{1d300}-\u{1d376}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u;
/** Spacing marks: part of a letter's grapheme, but with a column of their own. */
const SPACING = /(?<=.)[\p{Mc}\uff9e\uff9f]/gsu;

/** Created on first use: it takes as long as everything else in a small command. */
let segmenter: Intl.Segmenter | null = null;

function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return segmenter.segment(text);
}

/** Returns the width of a text in columns. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let columns = 0;
  for (const { segment } of graphemesOf(text)) columns += graphemeWidth(segment);
  return columns;
}

/** A grapheme and its width in columns. */
interface Character {
  readonly text: SafeText;
  readonly width: number;
}

/** Splits a text into graphemes. */
export function charactersOf(text: SafeText): readonly Character[] {
  return [...graphemesOf(text)].map(({ segment }) => ({ text: segment as SafeText, width: graphemeWidth(segment) }));
}

/** Cuts a text without line feeds into pieces of at most `columns` (>= 1), unless a character alone is wider. Returns one piece at least. */
export function cutWidth(text: SafeText, columns: number): readonly SafeText[] {
  if (displayWidth(text) <= columns) return [text];
  const pieces: SafeText[] = [];
  let piece = "";
  let used = 0;
  for (const character of charactersOf(text)) {
    if (used > 0 && used + character.width > columns) {
      pieces.push(piece as SafeText);
      piece = "";
      used = 0;
    }
    piece += character.text;
    used += character.width;
  }
  return [...pieces, piece as SafeText];
}

/** Shortens a text to at most `columns` (>= 1), ending in `…` when something was cut off. */
export function fitWidth(text: SafeText, columns: number): SafeText {
  if (displayWidth(text) <= columns) return text;
  let kept = "";
  let used = 0;
  for (const { segment } of graphemesOf(text)) {
    const next = used + graphemeWidth(segment);
    if (next > columns - 1) break;
    kept += segment;
    used = next;
  }
  return `${kept.trimEnd()}…` as SafeText;
}

/** Shortens a text to at most `columns` (>= 2) by cutting its middle, so that a path keeps the file's name. */
export function fitMiddle(text: SafeText, columns: number): SafeText {
  if (displayWidth(text) <= columns) return text;
  const head = fitWidth(text, Math.ceil(columns / 2));
  const room = columns - displayWidth(head);
  let tail = "";
  let used = 0;
  for (const character of [...charactersOf(text)].reverse()) {
    used += character.width;
    if (used > room) break;
    tail = character.text + tail;
  }
  return (head + tail) as SafeText;
}

function graphemeWidth(grapheme: string): number {
  if (NO_WIDTH.test(grapheme)) return 0;
  if (EMOJI.test(grapheme)) return 2;
  return (WIDE.test(grapheme) ? 2 : 1) + (grapheme.match(SPACING)?.length ?? 0);
}

/** Joins the pieces of a text so that no half of a surrogate pair is printed alone. */
interface CharacterJoiner {
  /** Returns a piece with the half that the piece before ended in, and keeps back a half at its own end. */
  take(piece: string): string;
  /** Ends the text: returns a replacement character for a half that was kept back, else "". */
  end(): string;
}

/** Creates a joiner, which can be used again after `end`. */
export function createCharacterJoiner(): CharacterJoiner {
  let half = "";
  return {
    take(piece) {
      const joined = half + piece;
      half = /[\ud800-\udbff]$/.exec(joined)?.[0] ?? "";
      return joined.slice(0, joined.length - half.length);
    },
    end() {
      const left = half === "" ? "" : "\ufffd";
      half = "";
      return left;
    },
  };
}

// The progress line: shows on the last line of a terminal what is being done now, and overwrites itself. It is drawn at intervals,
// never wider than the terminal, and erased before anything else is written.

/** Time between two drawings, milliseconds. */
const PAUSE_MS = 100;
const ERASE = "\r\u001b[K";

interface ProgressLineOptions {
  /** Returns the terminal's present width. */
  readonly columns: () => number;
  readonly style: Pick<Style, "faint">;
  /** Writes text and control sequences. */
  readonly write: (sequences: string) => void;
}

interface ProgressLine {
  /** Replaces the text, which may be a stranger's; if many come at once, only the newest is drawn. */
  show(text: string): void;
  erase(): void;
}

/** Creates the progress line of a terminal, empty at first. */
export function createProgressLine({ columns, style, write }: ProgressLineOptions): ProgressLine {
  let pause: ReturnType<typeof setTimeout> | null = null;
  let waiting: string | null = null;
  let isShown = false;
  let drawnAt = 0;
  const draw = (text: string): void => {
    // The last column stays free: many terminals wrap there.
    const fitted: SafeText = fitWidth(forTerminalLine(text), Math.max(1, columns() - 1));
    write(`${ERASE}${style.faint(fitted)}`);
    waiting = null;
    isShown = true;
    drawnAt = performance.now();
    if (pause !== null) clearTimeout(pause);
    pause = setTimeout(() => {
      pause = null;
      if (waiting !== null) draw(waiting);
    }, PAUSE_MS);
    pause.unref();
  };
  return {
    show: (text) => {
      // Work that never waits lets no timer run.
      if (pause === null || performance.now() - drawnAt >= PAUSE_MS) draw(text);
      else waiting = text;
    },
    erase: () => {
      waiting = null;
      if (isShown) write(ERASE);
      isShown = false;
    },
  };
}
