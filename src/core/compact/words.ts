// Splits texts into words, and finds short texts in a long one.

// Finds the words that say what a text is about, without those that occur in every text: to compare texts, never shown.

/** Common words of English, and of what agents write. */
const COMMON: ReadonlySet<string> = new Set(
  (
    "about above after again all also and any are because been before being below between both but can cannot could did does " +
    "doing done down during each few first for from further get gets going good got great had has have having her here him " +
    "his how into its itself just keep know let lets like look looks made make makes may more most much must need needs new " +
    "nor not now off once one only other our out over own perfect please see should show since some still such sure take than " +
    "that the their them then there these they thing things this those through too two under until use used uses using very " +
    "want was way well were what when where which while who why will with work working would yes you your"
  ).split(" "),
);

const WORD = /[\p{L}_][\p{L}\p{N}_]{2,39}/gu;

/** Returns the distinctive words of a text in lower case, in order, with repeats; at most `limit`. Linear in the text. */
export function termsOf(text: string, limit: number = Number.POSITIVE_INFINITY): readonly string[] {
  const terms: string[] = [];
  WORD.lastIndex = 0;
  for (let match = WORD.exec(text); match !== null && terms.length < limit; match = WORD.exec(text)) {
    const term = match[0].toLowerCase();
    if (!COMMON.has(term)) terms.push(term);
  }
  return terms;
}

// Finds many short texts in one long one. A short text is looked up by its rarest four characters, so a lookup does not cost the length of
// the long text.

type HoldsText = (text: string) => boolean;

/** Characters in a gram; the index maps grams to their places. */
const GRAM = 4;
/** If even the rarest gram occurs more often than this, the whole text is searched. */
const MOST_PLACES = 64;

/** Returns a function that says whether a text contains another one. Indexes the text on the first call. */
export function indexText(text: string): HoldsText {
  let places: Map<number, number[]> | undefined;
  return (wanted) => {
    if (wanted.length < GRAM) return text.includes(wanted);
    places ??= listPlaces(text);
    const [found, offset] = rarest(wanted, places);
    if (found.length > MOST_PLACES) return text.includes(wanted);
    return found.some((place) => text.startsWith(wanted, place - offset));
  };
}

function listPlaces(text: string): Map<number, number[]> {
  const places = new Map<number, number[]>();
  for (let at = 0; at + GRAM <= text.length; at += 1) {
    const key = gramAt(text, at);
    const known = places.get(key);
    if (known === undefined) places.set(key, [at]);
    // One place more than the limit is enough to know that it is exceeded.
    else if (known.length <= MOST_PLACES) known.push(at);
  }
  return places;
}

/** Returns the places of the rarest gram of a text, and the gram's offset in it. */
function rarest(wanted: string, places: ReadonlyMap<number, readonly number[]>): readonly [readonly number[], number] {
  let best: readonly number[] | undefined;
  let offset = 0;
  for (let at = 0; at + GRAM <= wanted.length; at += 1) {
    const found = places.get(gramAt(wanted, at)) ?? [];
    if (best === undefined || found.length < best.length) [best, offset] = [found, at];
    if (best.length === 0) break;
  }
  return [best ?? [], offset];
}

/** Hashes a gram. A collision costs one more comparison. */
function gramAt(text: string, at: number): number {
  let key = 0;
  for (let next = at; next < at + GRAM; next += 1) key = Math.imul(key, 0x01000193) ^ text.charCodeAt(next);
  return key;
}

// Splits a text into words: runs of the characters that paths, numbers, names and hashes are made of. One pass over character codes, so
// even hostile text takes linear time; most words are rejected by their traits alone.

/** Kinds of characters in a word, as bits. */
export const LOWER = 1;
export const UPPER = 2;
export const DIGIT = 4;
export const UNDERSCORE = 8;
export const SLASH = 16;
export const DOT = 32;
export const COLON = 64;
/** Other ASCII marks (- # @ + ~ %), commas inside numbers, and letters beyond ASCII. */
export const OTHER = 128;

/** Receives one word, `text.slice(start, end)`, with its kinds of characters. Returns where to continue: `end` or later. */
type VisitWord = (start: number, end: number, traits: number) => number;

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

/** Whether the comma at this place has a digit before it and exactly three after it. */
function isDigitGroup(text: string, at: number): boolean {
  if (!isDigitAt(text, at - 1)) return false;
  return isDigitAt(text, at + 1) && isDigitAt(text, at + 2) && isDigitAt(text, at + 3) && !isDigitAt(text, at + 4);
}

function isDigitAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0x30 && code <= 0x39;
}

/**
 * By UTF-16 unit. Beyond ASCII, letters of any script belong to words; blanks, typographic punctuation, arrows and box drawing end them.
 */
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
