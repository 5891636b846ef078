// Cuts a text into words: runs of characters that paths, numbers, names and hashes are made of. One pass by character
// codes, so that no text, however hostile, takes longer than its length; most words are dismissed by their traits alone.

/** What kinds of characters a word holds, as bits. */
export const LOWER = 1;
export const UPPER = 2;
export const DIGIT = 4;
export const UNDERSCORE = 8;
export const SLASH = 16;
export const DOT = 32;
export const COLON = 64;
/** Other ASCII marks (- # @ + ~ %), commas inside numbers, and letters beyond ASCII. */
export const OTHER = 128;

/** Takes one word: `text.slice(start, end)`, with its kinds of characters. Gives where to go on: `end` or later. */
export type VisitWord = (start: number, end: number, traits: number) => number;

const COMMA = 0x2c;
const TRAITS = createTraits();

/** Visits the words of a text in order. A comma is part of a word only between groups of three digits. */
export function scanWords(text: string, visit: VisitWord): void {
  let at = 0;
  while (at < text.length) {
    const start = at;
    let traits = traitsAt(text, at);
    at += 1;
    if (traits === 0) continue;
    for (; at < text.length; at += 1) {
      const more = traitsAt(text, at);
      if (more !== 0) traits |= more;
      else if (text.charCodeAt(at) !== COMMA || !isDigitGroup(text, at)) break;
    }
    at = visit(start, at, traits);
  }
}

function traitsAt(text: string, at: number): number {
  return TRAITS[text.charCodeAt(at)] as number;
}

/** Whether the comma at this place has one digit before it and exactly three after it. */
function isDigitGroup(text: string, at: number): boolean {
  if (!isDigitAt(text, at - 1)) return false;
  return isDigitAt(text, at + 1) && isDigitAt(text, at + 2) && isDigitAt(text, at + 3) && !isDigitAt(text, at + 4);
}

function isDigitAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0x30 && code <= 0x39;
}

/** By UTF-16 unit. Beyond ASCII, letters of any script; blanks, typographic punctuation, arrows and box drawing end a word. */
function createTraits(): Uint8Array {
  const traits = new Uint8Array(0x10000).fill(OTHER, 0xc0).fill(0, 0x2000, 0x2c00).fill(0, 0x3000, 0x3040);
  traits[0xfeff] = 0;
  for (let code = 0; code < 0x80; code += 1) {
    const letter = String.fromCharCode(code);
    if (letter >= "a" && letter <= "z") traits[code] = LOWER;
    else if (letter >= "A" && letter <= "Z") traits[code] = UPPER;
    else if (letter >= "0" && letter <= "9") traits[code] = DIGIT;
    else if ("-#@+~%".includes(letter)) traits[code] = OTHER;
  }
  traits[0x5f] = UNDERSCORE;
  traits[0x2f] = SLASH;
  traits[0x2e] = DOT;
  traits[0x3a] = COLON;
  return traits;
}
