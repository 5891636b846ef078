// An index over the texts of events: literal search in their order, as `jpg search` has it, and ranked search, as `--rank` has it.
import { isMostlyContained, type LineSketch } from "../../src/core/conversation/merge-sides.ts";
import {
  createWordFinder,
  parseWords,
  type RankedTexts,
  rankTexts,
  readWordHits,
} from "../../src/core/look/search-words.ts";
import { wordsIn } from "./words-in.ts";

/** Gives the texts that fit words best, best first, at most so many; each is weighed. */
export type RankFor = (weigh: RankedTexts["weigh"], most: number) => readonly number[];

/** Answers with positions of texts, 0-based. */
export interface WordIndex {
  /** The first texts that hold a text, case ignored, in order. */
  literal(text: string, most: number): readonly number[];
  /** Looks for words, for rankings by several weights. */
  rankFor(words: readonly string[]): RankFor;
  /** How many texts hold a word as a word, or as a part of a name. */
  frequency(word: string): number;
}

/** Indexes texts. */
export function indexWords(texts: readonly string[]): WordIndex {
  const lower = texts.map((text) => text.toLowerCase());
  const lengths = texts.map(({ length }) => length);
  const postings = new Map<string, Map<number, number>>();
  for (const [at, text] of texts.entries()) {
    for (const word of wordsIn(text)) {
      const places = postings.get(word) ?? new Map<number, number>();
      postings.set(word, places);
      places.set(at, (places.get(at) ?? 0) + 1);
    }
  }
  const holding = (word: string): ReadonlyMap<number, number> | undefined => postings.get(word);
  const rankFor = (given: readonly string[]): RankFor => {
    if (given.length === 0) return () => [];
    const words = parseWords(given.join(" "));
    const find = createWordFinder(words);
    const sketches = new Map<number, LineSketch>();
    const linesOf = (at: number): LineSketch => {
      const lines = sketches.get(at) ?? readWordHits([texts[at] ?? ""], find).lines;
      sketches.set(at, lines);
      return lines;
    };
    const isShownBy = (at: number, better: number): boolean => isMostlyContained(linesOf(at), linesOf(better));
    return (weigh, most) => rankTexts(words, { lengths, holding, weigh, isShownBy }, most).map(({ at }) => at);
  };
  const known = new Map<string, readonly number[]>();
  return {
    rankFor,
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
