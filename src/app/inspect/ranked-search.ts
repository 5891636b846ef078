// Finds events by words that stand in them, best first. Every turn is read once and only the words that are looked for are
// counted: there is no index to keep, and what is held grows with the hits.
import { type LineSketch, standsIn } from "../../core/conversation/merge-sides.ts";
import {
  createWordFinder,
  lineAround,
  type MatchedLine,
  type NamePlace,
  type RankedText,
  type RankedTexts,
  rankTexts,
  readWordHits,
  type SoughtWords,
} from "../../core/look/search-words.ts";
import type { SearchHit } from "./search-report.ts";

/** What the view hides or changes is what one searches for; results hold most of it. */
const HIDDEN_WEIGHT = 3;
const RESULT_WEIGHT = 1.5;

/** Counts words while events are read; must be fed all before it ranks. */
export interface WordCounter {
  /** Takes in an event's texts; gives its position, and whether it holds any of the words. */
  add(texts: readonly string[]): { readonly at: number; readonly isHit: boolean };
  /** Ranks the hits, best first. `areNear` = whether one may stand for the other, if it shows all that the other shows. */
  rank(how: Pick<RankedTexts, "weigh"> & { areNear(at: number, other: number): boolean }): readonly RankedText[];
  /** The line of a hit that holds the rarest of its words, as far as was known when it was taken in. */
  line(at: number): MatchedLine;
}

/** Says what a hit's score is multiplied by. */
export function rankWeight(type: SearchHit["type"], state: "shown" | "changed" | "hidden"): number {
  return (type === "tool_call_response" ? RESULT_WEIGHT : 1) * (state === "shown" ? 1 : HIDDEN_WEIGHT);
}

/** Creates a counter of words. */
export function createWordCounter(words: SoughtWords): WordCounter {
  const find = createWordFinder(words);
  const lengths: number[] = [];
  const postings = new Map<string, Map<number, number>>([...words.keys()].map((word) => [word, new Map()]));
  const hits = new Map<number, { readonly line: MatchedLine; readonly lines: LineSketch }>();
  const rarestOf = (places: ReadonlyMap<string, NamePlace>): NamePlace | undefined => {
    const byRarity = [...places].sort(([a], [b]) => (postings.get(a)?.size ?? 0) - (postings.get(b)?.size ?? 0));
    return byRarity[0]?.[1];
  };
  return {
    add(texts) {
      const at = lengths.length;
      lengths.push(texts.reduce((sum, { length }) => sum + length, 0));
      const { times, first, lines } = readWordHits(texts, find);
      for (const [word, count] of times) postings.get(word)?.set(at, count);
      const place = rarestOf(first);
      if (place === undefined) return { at, isHit: false };
      hits.set(at, { line: lineAround(place.text, place.from, place.to), lines });
      return { at, isHit: true };
    },
    rank: ({ weigh, areNear }) =>
      rankTexts(words, {
        lengths,
        holding: (word) => postings.get(word),
        weigh,
        isShownBy: (at, better) =>
          areNear(at, better) && standsIn(hits.get(at)?.lines ?? [], hits.get(better)?.lines ?? []),
      }),
    line: (at) => hits.get(at)?.line ?? { line: "", from: 0, to: 0 },
  };
}
