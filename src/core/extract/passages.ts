// Picks the sentences that tell most: words that few messages hold count most (TF-IDF), what was picked already counts against
// a sentence, and every stretch of the conversation has its turn. Deterministic; linear in the texts.
import { scanSentences } from "../loss/line-facts.ts";
import { termsOf } from "../loss/terms.ts";
import { weightOf } from "./cues.ts";
import { cutEnd, oneLine } from "./short-text.ts";

/** A text that somebody said. */
export interface Said {
  /** Turn position, 0-based. */
  readonly turn: number;
  readonly text: string;
}

/** A sentence that may be picked. */
export interface Passage {
  readonly turn: number;
  /** Position among all sentences, 0-based. */
  readonly order: number;
  readonly text: string;
  readonly terms: ReadonlySet<string>;
  readonly score: number;
}

/** Characters of one text that sentences are taken from, at its start and at its end. */
const SEEN_CHARS = 6000;
const SENTENCE_CHARS = 320;
const SHORTEST_SENTENCE = 30;
const LEAST_TERMS = 4;
const MOST_TERMS = 40;
/** Characters that one stretch has in what is picked, most stretches, and sentences of one that are looked at. */
const STRETCH_CHARS = 500;
const MOST_STRETCHES = 64;
const STRETCH_PASSAGES = 16;
const LIST_MARK = /^(?:[-*•+>#]+|\d{1,2}[.)])\s+/;

/** Scores the sentences of texts. */
export function listPassages(texts: readonly Said[]): readonly Passage[] {
  const sentences = texts.flatMap(({ turn, text }, message) =>
    sentencesOf(text).map((line) => ({ turn, message, text: line, terms: new Set(termsOf(line, MOST_TERMS)) })),
  );
  const holders = countHolders(sentences);
  return sentences
    .filter(({ terms }) => terms.size >= LEAST_TERMS)
    .map(({ turn, text, terms }, order) => {
      let weight = 0;
      for (const term of terms) weight += Math.log(1 + texts.length / (holders.get(term) ?? 1));
      return { turn, order, text, terms, score: (weight / Math.sqrt(terms.size)) * weightOf(text) };
    })
    .filter(({ score }) => score > 0);
}

/**
 * Picks passages that together take at most `chars` characters, in the order in which they were said. `isKnown` tells what the
 * reader has seen already; `lineChars` = what a line takes beside its text.
 */
export function pickPassages(
  passages: readonly Passage[],
  {
    chars,
    lineChars,
    isKnown,
  }: { readonly chars: number; readonly lineChars: number; readonly isKnown: (text: string) => boolean },
): readonly Passage[] {
  const stretches = intoStretches(passages, Math.min(MOST_STRETCHES, Math.max(1, Math.floor(chars / STRETCH_CHARS))));
  const picked: Passage[] = [];
  let left = chars;
  while (stretches.some((stretch) => stretch.length > 0)) {
    for (const stretch of stretches) {
      const best = takeBest(stretch, picked);
      if (best === null || best.text.length + lineChars > left || isKnown(best.text)) continue;
      picked.push(best);
      left -= best.text.length + lineChars;
    }
  }
  return picked.sort((a, b) => a.order - b.order);
}

function sentencesOf(text: string): readonly string[] {
  const isLong = text.length > 2 * SEEN_CHARS;
  const seen = isLong ? `${text.slice(0, SEEN_CHARS)}\n${text.slice(-SEEN_CHARS)}` : text;
  const sentences: string[] = [];
  let isCode = false;
  scanSentences(seen, (start, end) => {
    if (seen.startsWith("```", start)) isCode = !isCode;
    if (isCode || end - start < SHORTEST_SENTENCE) return;
    const line = oneLine(seen.slice(start, end)).replace(LIST_MARK, "");
    const isOdd = line.split("**").length % 2 === 0;
    sentences.push(cutEnd(isOdd ? line.replaceAll("**", "") : line, SENTENCE_CHARS));
  });
  return sentences;
}

/** How many messages hold each term. */
function countHolders(
  sentences: readonly { readonly message: number; readonly terms: ReadonlySet<string> }[],
): ReadonlyMap<string, number> {
  const holders = new Map<string, number>();
  const lastIn = new Map<string, number>();
  for (const { message, terms } of sentences) {
    for (const term of terms) {
      if (lastIn.get(term) === message) continue;
      lastIn.set(term, message);
      holders.set(term, (holders.get(term) ?? 0) + 1);
    }
  }
  return holders;
}

/** Cuts passages into stretches of the conversation, the best of each first. */
function intoStretches(passages: readonly Passage[], count: number): Passage[][] {
  const stretches: Passage[][] = Array.from({ length: count }, () => []);
  for (const [at, passage] of passages.entries()) stretches[Math.floor((at * count) / passages.length)]?.push(passage);
  return stretches.map((stretch) => stretch.sort((a, b) => b.score - a.score).slice(0, STRETCH_PASSAGES));
}

/** Takes the passage out of a stretch that adds most to what is picked. */
function takeBest(stretch: Passage[], picked: readonly Passage[]): Passage | null {
  let best = -1;
  let bestGain = 0;
  for (const [at, passage] of stretch.entries()) {
    const known = picked.reduce((most, other) => Math.max(most, sharedTerms(passage, other)), 0);
    const gain = passage.score * (1 - known);
    if (gain > bestGain) [best, bestGain] = [at, gain];
  }
  if (best < 0) {
    stretch.length = 0;
    return null;
  }
  return stretch.splice(best, 1)[0] ?? null;
}

/** Share of the terms of a passage that another holds, 0..1. */
function sharedTerms({ terms }: Passage, other: Passage): number {
  let shared = 0;
  for (const term of terms) if (other.terms.has(term)) shared += 1;
  return shared / terms.size;
}
