// A text as it was meant: without what colours a terminal's text, and with the escapes of JSON, however deep, put back into
// characters. Every position is known in the text that it was made of, so that what is found here can be taken out there.

/** A text and where it came from. */
export interface MeantText {
  readonly text: string;
  /** Where characters `start` to `end` (exclusive) stand in the original text, UTF-16 units. */
  placeOf(start: number, end: number): { readonly start: number; readonly end: number };
}

/** A colour of a terminal, or an escape: a JSON text inside a JSON text has more backslashes, all of which are looked at once. */
const WRITTEN = /\u001b\[[\d;]*[mK]|(?<!\\)\\+(?:u([0-9a-fA-F]{4})|([nrt"'/]))/g;
const LETTERS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/** A part of the original text: as it is, or written as one character or none. */
interface Part {
  /** Where it begins in the plain text, and in the original. */
  readonly at: number;
  readonly from: number;
  readonly end: number;
  readonly isWritten: boolean;
}

/** Resolves a text; null when it is plain already. */
export function meantText(text: string): MeantText | null {
  if (!text.includes("\\") && !text.includes("\u001b[")) return null;
  const parts: Part[] = [];
  let plain = "";
  let from = 0;
  const add = (end: number, isWritten: boolean, characters: string): void => {
    if (end > from) parts.push({ at: plain.length, from, end, isWritten });
    plain += characters;
    from = end;
  };
  for (const match of text.matchAll(WRITTEN)) {
    add(match.index, false, text.slice(from, match.index));
    add(match.index + match[0].length, true, characterOf(match[1], match[2]));
  }
  if (parts.length === 0) return null;
  add(text.length, false, text.slice(from));
  return {
    text: plain,
    placeOf: (start, end) => ({ start: placeOf(parts, start).start, end: placeOf(parts, end - 1).end }),
  };
}

function characterOf(code: string | undefined, letter: string | undefined): string {
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
  return letter === undefined ? "" : (LETTERS[letter] ?? letter);
}

/** Where one character stands. */
function placeOf(parts: readonly Part[], position: number): { readonly start: number; readonly end: number } {
  let [low, high] = [0, parts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((parts[middle]?.at ?? 0) <= position) low = middle;
    else high = middle - 1;
  }
  const part = parts[low];
  if (part === undefined) return { start: position, end: position + 1 };
  if (part.isWritten) return { start: part.from, end: part.end };
  const start = part.from + position - part.at;
  return { start, end: start + 1 };
}
