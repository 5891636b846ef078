// Which texts fit some words best (BM25): rare words weigh more, repeating one helps little, names count whole and in their parts.
// The constants were chosen in hindsight (docs/decisions/085-search-ranks-without-an-index.md). Linear in the texts; nothing is kept.
import { userError } from "./errors.ts";

/** Words that are looked for, lower case, with what each counts: 1, or less for a part of a name. */
export type SoughtWords = ReadonlyMap<string, number>;

/** The texts that are ranked. Positions are 0-based. */
export interface RankedTexts {
  /** How many words each holds. */
  readonly lengths: readonly number[];
  /** How often each text holds a word; undefined = none does. */
  holding(word: string): ReadonlyMap<number, number> | undefined;
  /** What the score of a text is multiplied by, > 0. */
  weigh(at: number): number;
}

export interface RankedText {
  readonly at: number;
  readonly score: number;
}

const WORD = /[\p{L}\p{N}_]{2,}/gu;
const PART = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|\p{L}+/gu;
/** Words of one part, as most are: finding the parts of one takes ten times as long as this. */
const ONE_PART = /^(?:\p{Lu}?\p{Ll}+|\p{Lu}+|\p{N}+)$/u;
/** Longer runs are data, which nobody types: their parts are not looked at. Characters. */
const LONGEST_NAME = 200;
/** How soon a repeated word stops counting, how much long texts are held back, how much more rare words weigh. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.3;
const RARITY = 1.3;
const PART_WEIGHT = 0.3;
/** Most words that are looked for: of more, the first. */
const MOST_WORDS = 64;

/** Gives the words of a text, lower case, those of names such as `readTurn` or `max_size` followed by their parts. */
export function* wordsIn(text: string): Generator<string> {
  for (const [word] of text.matchAll(WORD)) {
    yield word.toLowerCase();
    yield* partsOf(word);
  }
}

/** Parses words to look for. Throws `bad_pattern` where there is none. */
export function parseWords(text: string): SoughtWords {
  const whole = [...text.matchAll(WORD)].slice(0, MOST_WORDS).map(([word]) => word);
  if (whole.length === 0)
    throw userError("bad_pattern", "That cannot be ranked by: it holds no word of two letters or digits.", {
      hints: ["Say words that stand near what you look for, or leave --rank out to search for the text as it is."],
    });
  const words = new Map<string, number>(whole.map((word) => [word.toLowerCase(), 1]));
  for (const word of whole) for (const part of partsOf(word)) if (!words.has(part)) words.set(part, PART_WEIGHT);
  return words;
}

/** Ranks texts: those that hold any of the words, best first; of equal ones the later first. */
export function rankTexts(words: SoughtWords, { lengths, holding, weigh }: RankedTexts): readonly RankedText[] {
  const average = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
  const scores = new Map<number, number>();
  for (const [word, share] of words) {
    const places = holding(word);
    if (places === undefined) continue;
    const rarity = Math.log(1 + (lengths.length - places.size + 0.5) / (places.size + 0.5)) ** RARITY;
    for (const [at, times] of places) {
      const length = 1 - LENGTH_SHARE + (LENGTH_SHARE * (lengths[at] ?? 0)) / Math.max(1, average);
      const repeated = (times * (SATURATION + 1)) / (times + SATURATION * length);
      scores.set(at, (scores.get(at) ?? 0) + share * rarity * repeated);
    }
  }
  return [...scores]
    .map(([at, score]) => ({ at, score: score * weigh(at) }))
    .sort((a, b) => b.score - a.score || b.at - a.at);
}

function partsOf(word: string): readonly string[] {
  if (word.length > LONGEST_NAME || ONE_PART.test(word)) return [];
  const parts = word.split("_").flatMap((piece) => piece.match(PART) ?? []);
  return parts.length < 2 ? [] : parts.filter(({ length }) => length > 1).map((part) => part.toLowerCase());
}
