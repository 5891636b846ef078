// Which texts fit some words best (BM25): rare words weigh more, repeating one helps little. The first places hold different things:
// a word counts less in a text when better ones hold it too, and a text that shows nothing else stands behind the better one.
// The constants were chosen in hindsight (docs/decisions/108-a-ranked-search-shows-different-things.md).
import type { SoughtWords } from "./sought-words.ts";

/** The texts that are ranked. Positions are 0-based. */
export interface RankedTexts {
  /** How long each is, characters. */
  readonly lengths: readonly number[];
  /** How often each text holds a word; undefined = none does. */
  holding(word: string): ReadonlyMap<number, number> | undefined;
  /** What the score of a text is multiplied by, > 0. */
  weigh(at: number): number;
  /** Whether a text shows nothing of the words that a better one does not show as well. */
  isShownBy(at: number, better: number): boolean;
}

export interface RankedText {
  readonly at: number;
  /** Texts that this one stands for: they show what it shows, and have no place of their own. */
  readonly alike: readonly number[];
}

/** How soon a repeated word stops counting, how much long texts are held back, how much more rare words weigh. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.2;
const RARITY = 1.3;
/** How much less a word counts for each better text that holds it: 1, 2/3, 1/2, 2/5, … of its weight. */
const FAMILIARITY = 0.5;
/** Places that hold different things; behind them texts come by their own scores. */
const PLACES = 20;

/** Ranks texts: those that hold any of the words, best first; of equal ones the later first. `most` = as many of them as are wanted. */
export function rankTexts(
  words: SoughtWords,
  texts: RankedTexts,
  most: number = Number.POSITIVE_INFINITY,
): readonly RankedText[] {
  const ranked: RankedText[] = [];
  const familiar = new Map<string, number>();
  let left = scoreTexts(words, texts);
  while (left.length > 0 && ranked.length < Math.min(most, PLACES)) {
    const best = bestOf(left, familiar);
    const others = left.filter((text) => text !== best);
    const alike = new Set(others.filter(({ at }) => texts.isShownBy(at, best.at)));
    ranked.push({ at: best.at, alike: [...alike].map(({ at }) => at) });
    for (const { word } of best.parts) familiar.set(word, (familiar.get(word) ?? 0) + 1);
    left = others.filter((text) => !alike.has(text));
  }
  return [...ranked, ...left.map(({ at }) => ({ at, alike: [] }))].slice(0, most);
}

interface ScoredText {
  readonly at: number;
  readonly weight: number;
  /** What each word adds, before the weight. */
  readonly parts: { readonly word: string; readonly score: number }[];
  score: number;
}

/** The texts that hold a word, best first, each for itself. */
function scoreTexts(words: SoughtWords, { lengths, holding, weigh }: RankedTexts): readonly ScoredText[] {
  const average = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
  const scored = new Map<number, ScoredText>();
  for (const [word, share] of words) {
    const places = holding(word);
    if (places === undefined) continue;
    const rarity = Math.log(1 + (lengths.length - places.size + 0.5) / (places.size + 0.5)) ** RARITY;
    for (const [at, times] of places) {
      const length = 1 - LENGTH_SHARE + (LENGTH_SHARE * (lengths[at] ?? 0)) / Math.max(1, average);
      const repeated = (times * (SATURATION + 1)) / (times + SATURATION * length);
      const text = scored.get(at) ?? { at, weight: weigh(at), parts: [], score: 0 };
      scored.set(at, text);
      text.parts.push({ word, score: share * rarity * repeated });
    }
  }
  const nothing = new Map<string, number>();
  for (const text of scored.values()) text.score = scoreOf(text, nothing);
  return [...scored.values()].sort((a, b) => b.score - a.score || b.at - a.at);
}

/** The best of texts, which stand in the order of their own scores, once some words are familiar. */
function bestOf(texts: readonly ScoredText[], familiar: ReadonlyMap<string, number>): ScoredText {
  let [best] = texts as readonly [ScoredText, ...ScoredText[]];
  let bestScore = scoreOf(best, familiar);
  for (const text of texts) {
    if (text.score < bestScore) break;
    const score = scoreOf(text, familiar);
    if (score < bestScore || (score === bestScore && text.at <= best.at)) continue;
    best = text;
    bestScore = score;
  }
  return best;
}

function scoreOf({ parts, weight }: ScoredText, familiar: ReadonlyMap<string, number>): number {
  let score = 0;
  for (const { word, score: own } of parts) score += own / (1 + FAMILIARITY * (familiar.get(word) ?? 0));
  return score * weight;
}
