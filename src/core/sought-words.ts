// Words that are looked for, and where they stand in a text: names count whole and in their parts, in whatever case.
import { userError } from "./errors.ts";
import { plainForm } from "./text-pattern.ts";

/** Words that are looked for, lower case, with what each counts: 1, or less for a part of a name. */
export type SoughtWords = ReadonlyMap<string, number>;

/** A name in a text that holds words which are looked for. */
export interface FoundName {
  /** Those that it is and that are parts of it, each as often as it stands there; never empty. */
  readonly words: readonly string[];
  /** Where it stands: characters, 0-based, the end exclusive. */
  readonly from: number;
  readonly to: number;
}

/** Tells of every name of a text that holds a word, in their order. */
export type FindWords = (text: string, tell: (found: FoundName) => void) => void;

const WORD = /[\p{L}\p{N}_]{2,}/gu;
/** The same, to be asked from a place on: `matchAll` would begin where another search stopped. */
const NEXT_WORD = new RegExp(WORD);
const PART = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|\p{L}+/gu;
/** Words of one part, as most are: finding the parts of one takes ten times as long as this. */
const ONE_PART = /^(?:\p{Lu}?\p{Ll}+|\p{Lu}+|\p{N}+)$/u;
/** Longer runs are data, which nobody types: their parts are not looked at. Characters. */
const LONGEST_NAME = 200;
const PART_WEIGHT = 0.3;
/** Most words that are looked for: of more, the first. */
const MOST_WORDS = 64;
/** One letter that becomes two when it is made small, which no expression knows. */
const DOTTED = { small: "i\u0307", expression: "(?:i\u0307|\u0130)" };

/** Parses words to look for. Throws `bad_pattern` where there is none. */
export function parseWords(text: string): SoughtWords {
  const whole = [...plainForm(text).matchAll(WORD)].slice(0, MOST_WORDS).map(([word]) => word);
  if (whole.length === 0)
    throw userError("bad_pattern", "There is nothing to rank by: the pattern has no word of two letters or digits.", {
      hints: ["Give words that are near what you look for, or leave --rank out to search for the text as it is."],
    });
  const words = new Map<string, number>(whole.map((word) => [word.toLowerCase(), 1]));
  for (const word of whole) for (const part of partsOf(word)) if (!words.has(part)) words.set(part, PART_WEIGHT);
  return words;
}

/**
 * Creates a finder: it finds what a look at every name of a text would find, without that look. Linear in the text: it leaps from
 * one place that may hold a word to the next.
 */
export function createWordFinder(words: SoughtWords): FindWords {
  const spelled = [...words.keys()].map((word) => word.replaceAll(DOTTED.small, DOTTED.expression));
  const expression = new RegExp(spelled.join("|"), "giu");
  return (text, tell) => {
    let last = 0;
    expression.lastIndex = 0;
    for (let match = expression.exec(text); match !== null; match = expression.exec(text)) {
      const at = match.index;
      if (isInsidePart(text, at)) {
        expression.lastIndex = at + 1;
        continue;
      }
      const name = isWhole(text, match) ? match : nameAt(text, at, last);
      if (name === null) continue;
      const from = name.index;
      last = from + name[0].length;
      expression.lastIndex = last;
      const found = wordsOf(name[0]).filter((word) => words.has(word));
      if (found.length > 0) tell({ words: found, from, to: last });
    }
  };
}

function wordsOf(name: string): readonly string[] {
  return [name.toLowerCase(), ...partsOf(name)];
}

function partsOf(word: string): readonly string[] {
  if (word.length > LONGEST_NAME || ONE_PART.test(word)) return [];
  const parts = word.split("_").flatMap((piece) => piece.match(PART) ?? []);
  return parts.length < 2 ? [] : parts.filter(({ length }) => length > 1).map((part) => part.toLowerCase());
}

/** The name that a place stands in, looked for behind the one before; null when it stands in none. */
function nameAt(text: string, at: number, last: number): RegExpExecArray | null {
  let start = at;
  while (start > last && !endsName(text.charCodeAt(start - 1))) start -= 1;
  NEXT_WORD.lastIndex = start;
  let name = NEXT_WORD.exec(text);
  while (name !== null && name.index + name[0].length <= at) name = NEXT_WORD.exec(text);
  return name !== null && name.index <= at ? name : null;
}

/** Whether a match is a whole name, as most are. */
function isWhole(text: string, { 0: { length }, index }: RegExpExecArray): boolean {
  const end = index + length;
  return (
    (index === 0 || endsName(text.charCodeAt(index - 1))) && (end === text.length || endsName(text.charCodeAt(end)))
  );
}

/** No part of a name begins between two small letters: a quick no for the `at` in `data`. */
function isInsidePart(text: string, at: number): boolean {
  return at > 0 && isSmall(text.charCodeAt(at - 1)) && isSmall(text.charCodeAt(at));
}

function isSmall(code: number): boolean {
  return code >= 97 && code <= 122;
}

/** Whether a character surely stands between names; what is beyond ASCII may be a letter. */
function endsName(code: number): boolean {
  const isDigit = code >= 48 && code <= 57;
  const isCapital = code >= 65 && code <= 90;
  return code < 128 && !isDigit && !isCapital && !isSmall(code) && code !== 95;
}
