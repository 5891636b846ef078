// An index over the texts of events: literal search in their order, as `jpg search` has it, and ranked search (BM25).

/** Answers with positions of texts, 0-based. */
export interface WordIndex {
  /** The first texts that hold a text, case ignored, in order. */
  literal(text: string, most: number): readonly number[];
  /** The texts that fit words best, best first; of equal ones the later first. */
  ranked(words: readonly string[], most: number): readonly number[];
  /** How many texts hold a word as a word. */
  frequency(word: string): number;
}

/** The usual constants of BM25: how soon a repeated word stops counting, how much long texts are held back. */
const K1 = 1.2;
const B = 0.75;
const WORD = /[\p{L}\p{N}_]{2,}/gu;

/** Indexes texts. */
export function indexWords(texts: readonly string[]): WordIndex {
  const lower = texts.map((text) => text.toLowerCase());
  const lengths: number[] = [];
  const postings = new Map<string, Map<number, number>>();
  for (const [at, text] of lower.entries()) {
    const words = text.match(WORD) ?? [];
    lengths.push(words.length);
    for (const word of words) {
      const places = postings.get(word) ?? new Map<number, number>();
      postings.set(word, places);
      places.set(at, (places.get(at) ?? 0) + 1);
    }
  }
  const average = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
  const ranked = (words: readonly string[], most: number): readonly number[] => {
    const scores = new Map<number, number>();
    for (const word of words) {
      const places = postings.get(word);
      if (places === undefined) continue;
      const weight = Math.log(1 + (texts.length - places.size + 0.5) / (places.size + 0.5));
      for (const [at, times] of places) {
        const share = (times * (K1 + 1)) / (times + K1 * (1 - B + (B * (lengths[at] ?? 0)) / average));
        scores.set(at, (scores.get(at) ?? 0) + weight * share);
      }
    }
    const best = [...scores].sort(([a, x], [b, y]) => y - x || b - a);
    return best.slice(0, most).map(([at]) => at);
  };
  const known = new Map<string, readonly number[]>();
  return {
    ranked,
    frequency: (word) => postings.get(word)?.size ?? 0,
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
