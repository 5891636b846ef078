// How many columns of a terminal a text takes: wide (CJK, emoji) characters two, combining marks none. Text is free of
// control characters here.

const ASCII = /^[\x20-\x7e]*$/;
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
const EMOJI = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F|\p{Regional_Indicator}{2}/u;
/** East Asian Wide and Fullwidth blocks (Unicode Standard Annex 11), rounded to blocks. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]/u;

/** Made for the first text that needs it: that takes as long as all else that a small command does. */
let segmenter: Intl.Segmenter | null = null;

function graphemesOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  return segmenter.segment(text);
}

/** Gives the columns a text takes. */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let columns = 0;
  for (const { segment } of graphemesOf(text)) columns += graphemeWidth(segment);
  return columns;
}

/** Shortens a text to at most `columns` (>= 1), ending in `…` when something was cut off. */
export function fitWidth(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let kept = "";
  let used = 0;
  for (const { segment } of graphemesOf(text)) {
    const next = used + graphemeWidth(segment);
    if (next > columns - 1) break;
    kept += segment;
    used = next;
  }
  return `${kept.trimEnd()}…`;
}

function graphemeWidth(grapheme: string): number {
  if (NO_WIDTH.test(grapheme)) return 0;
  return WIDE.test(grapheme) || EMOJI.test(grapheme) ? 2 : 1;
}
