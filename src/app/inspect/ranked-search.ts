// Finds events by words that stand in them, best first. Every turn is read once and only the words that are looked for are
// counted: there is no index to keep, and what is held grows with the hits.
import { findLine, type MatchedLine, parsePattern } from "../../core/text-pattern.ts";
import { rankTexts, type SoughtWords, wordsIn } from "../../core/word-ranking.ts";
import type { SearchHit } from "./search-report.ts";

/** What the view hides or changes is what one searches for; results hold most of it. */
const HIDDEN_WEIGHT = 3;
const RESULT_WEIGHT = 1.5;

/** Counts words while events are read; must be fed all before it ranks. */
export interface WordCounter {
  /** Takes in an event's texts; gives its position, and whether it holds any of the words. */
  add(texts: readonly string[]): { readonly at: number; readonly isHit: boolean };
  /** Positions of hits, best first. */
  rank(weigh: (at: number) => number): readonly number[];
  /** The line of a hit that holds the rarest of its words, as far as was known when it was taken in. */
  line(at: number): MatchedLine;
}

/** Says what a hit's score is multiplied by. */
export function rankWeight(type: SearchHit["type"], state: "shown" | "changed" | "hidden"): number {
  return (type === "tool_call_response" ? RESULT_WEIGHT : 1) * (state === "shown" ? 1 : HIDDEN_WEIGHT);
}

/** Creates a counter of words. */
export function createWordCounter(words: SoughtWords): WordCounter {
  const lengths: number[] = [];
  const postings = new Map<string, Map<number, number>>([...words.keys()].map((word) => [word, new Map()]));
  const lines = new Map<number, MatchedLine | null>();
  const placesOf = (word: string): number => postings.get(word)?.size ?? 0;
  return {
    add(texts) {
      const at = lengths.length;
      const found = new Set<string>();
      let length = 0;
      for (const text of texts)
        for (const word of wordsIn(text)) {
          length += 1;
          const places = postings.get(word);
          if (places === undefined) continue;
          places.set(at, (places.get(at) ?? 0) + 1);
          found.add(word);
        }
      lengths.push(length);
      if (found.size > 0) lines.set(at, lineOf(texts, [...found].sort((a, b) => placesOf(a) - placesOf(b))[0] ?? ""));
      return { at, isHit: found.size > 0 };
    },
    rank: (weigh) => rankTexts(words, { lengths, holding: (word) => postings.get(word), weigh }).map(({ at }) => at),
    line: (at) => lines.get(at) ?? { line: "", from: 0, to: 0 },
  };
}

function lineOf(texts: readonly string[], word: string): MatchedLine | null {
  return findLine(texts, parsePattern(word, { ignoreCase: true }));
}
