// An index over the texts of events: literal search in their order, as `jpg search` has it, and ranked search, as `--rank` has it.
import { parseWords, type RankedText, rankTexts, wordsIn } from "../../src/core/word-ranking.ts";

/** Answers with positions of texts, 0-based. */
export interface WordIndex {
  /** The first texts that hold a text, case ignored, in order. */
  literal(text: string, most: number): readonly number[];
  /** The texts that fit words best, best first; of equal ones the later first. */
  ranked(words: readonly string[], most: number): readonly RankedText[];
  /** How many texts hold a word as a word, or as a part of a name. */
  frequency(word: string): number;
}

/** Indexes texts. */
export function indexWords(texts: readonly string[]): WordIndex {
  const lower = texts.map((text) => text.toLowerCase());
  const lengths: number[] = [];
  const postings = new Map<string, Map<number, number>>();
  for (const [at, text] of texts.entries()) {
    let length = 0;
    for (const word of wordsIn(text)) {
      length += 1;
      const places = postings.get(word) ?? new Map<number, number>();
      postings.set(word, places);
      places.set(at, (places.get(at) ?? 0) + 1);
    }
    lengths.push(length);
  }
  const holding = (word: string): ReadonlyMap<number, number> | undefined => postings.get(word);
  const ranked = (words: readonly string[], most: number): readonly RankedText[] =>
    words.length === 0
      ? []
      : rankTexts(parseWords(words.join(" ")), { lengths, holding, weigh: () => 1 }).slice(0, most);
  const known = new Map<string, readonly number[]>();
  return {
    ranked,
    frequency: (word) => postings.get(word.toLowerCase())?.size ?? 0,
    literal: (text, most) => {
      const key = `${most} ${text}`;
      const hits = known.get(key) ?? firstHolding(lower, text.toLowerCase(), most);
      known.set(key, hits);
      return hits;
    },
  };
}

function firstHolding(texts: readonly string[], wanted: string, most: number): readonly number[] {
  const hits: number[] = [];
  for (const [at, text] of texts.entries()) {
    if (hits.length === most) break;
    if (text.includes(wanted)) hits.push(at);
  }
  return hits;
}
