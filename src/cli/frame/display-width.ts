// How many columns of a terminal a text takes: wide (CJK, emoji) characters two, combining marks none. Text is free of
// control characters here. A test compares it with the package string-width, which takes twice as long to load and to begin.
import type { SafeText } from "../../core/safe-text.ts";

/** Characters of one column each that join with no other: ASCII, Latin, and what jpg's own tables are drawn with. */
const PLAIN = /^[\x20-\x7e\u00a1-\u00a8\u00aa-\u00ac\u00af-\u024f\u2010-\u2027\u2190-\u2193\u2500-\u259f]*$/;
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}\p{Default_Ignorable_Code_Point}]+$/u;
const EMOJI =
  /(?!\p{Regional_Indicator})\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F|\p{Regional_Indicator}{2}|[\d#*]\uFE0F?\u20E3/u;
/** East Asian Wide and Fullwidth (Unicode Standard Annex 11), but for emoji. */
const WIDE =
  /^[\u1100-\u115e\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\u3163\u3165-\u3247\u3250-\ua4c6\ua960-\ua97c\uac00-\ud7a3\uf900-\ufad9\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{1b2fb}\u{1d300}-\u{1d376}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u;
/** What follows a letter in its grapheme and has a column of its own. */
const SPACING = /(?<=.)[\p{Mc}\uff9e\uff9f]/gsu;

/** Made for the first text that needs it: that takes as long as all else that a small command does. */
let segmenter: Intl.Segmenter | null = null;

function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return segmenter.segment(text);
}

/** Gives the columns a text takes. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let columns = 0;
  for (const { segment } of graphemesOf(text)) columns += graphemeWidth(segment);
  return columns;
}

/** A character as people see it, and the columns that it takes. */
export interface Character {
  readonly text: SafeText;
  readonly width: number;
}

/** Gives the characters of a text. */
export function charactersOf(text: SafeText): readonly Character[] {
  return [...graphemesOf(text)].map(({ segment }) => ({ text: segment as SafeText, width: graphemeWidth(segment) }));
}

/** Cuts a text without line feeds into pieces of at most `columns` (>= 1), unless a character alone is wider; never none. */
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

/** Shortens a text to at most `columns` (>= 2) by what stands in its middle: of a path the file's name stays. */
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
