// @module-tag law
// Ranking by words: rare before common, different things first, and always an order.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wordsIn } from "../../bench/hindsight/words-in.ts";
import { parseWords, type RankedText, rankTexts } from "../../src/core/look/search-words.ts";

type Shown = (at: number, better: number) => boolean;

function rankWhole(pattern: string, texts: readonly string[], isShownBy: Shown = () => false): readonly RankedText[] {
  const postings = new Map<string, Map<number, number>>();
  for (const [at, text] of texts.entries())
    for (const word of wordsIn(text)) {
      const places = postings.get(word) ?? new Map<number, number>();
      postings.set(word, places);
      places.set(at, (places.get(at) ?? 0) + 1);
    }
  const lengths = texts.map(({ length }) => length);
  return rankTexts(parseWords(pattern), { lengths, holding: (word) => postings.get(word), weigh: () => 1, isShownBy });
}

function rank(pattern: string, texts: readonly string[], isShownBy?: Shown): readonly number[] {
  return rankWhole(pattern, texts, isShownBy).map(({ at }) => at);
}

const held = (pattern: string, texts: readonly string[]): readonly number[] =>
  texts.flatMap((one, at) => ([...wordsIn(one)].some((word) => parseWords(pattern).has(word)) ? [at] : []));
const sorted = (positions: readonly number[]): readonly number[] => [...positions].sort((a, b) => a - b);

const text = fc
  .array(fc.constantFrom("tide", "readTurn", "turn", "sea", "\u0000", "é", "🌊", "max_size"))
  .map((words) => words.join(" "));
const pattern = fc.constantFrom("tide", "turn sea", "readTurn", "size", "tide turn sea é");

describe("rankTexts", () => {
  it("puts rare words before common ones, and of equal texts the later first", () => {
    expect(rank("the tide", ["the sea", "the tide", "the sky", "the sea"])).toEqual([1, 3, 2, 0]);
  });

  it("finds names by their parts, whole names first", () => {
    expect(rank("readTurn", ["a turn", "call readTurn here", "nothing"])).toEqual([1, 0]);
  });

  it("takes only what holds a word, each once, whatever the texts and words are", () => {
    fc.assert(
      fc.property(fc.array(text), pattern, (texts, words) => {
        expect(sorted(rank(words, texts))).toEqual(held(words, texts));
      }),
    );
  });

  it("puts a text first that alone holds a word, among texts that hold no more of the others", () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1 }), fc.nat(), (texts, place) => {
        const at = place % (texts.length + 1);
        const all = [...texts.slice(0, at), "tide lighthouse", ...texts.slice(at)];
        expect(rank("lighthouse", all)).toEqual([at]);
        const once = all.map((one) => [...new Set(one.split(" "))].join(" "));
        const longest = "lighthouse tide".length;
        expect(
          rank(
            "lighthouse tide",
            once.map((one, position) => (position === at ? one : one.padEnd(longest))),
          )[0],
        ).toBe(at);
      }),
    );
  });

  it("keeps the order of texts that hold one word each when others come that hold none", () => {
    const repeated = fc.integer({ min: 1, max: 9 }).map((times) => "tide ".repeat(times));
    fc.assert(
      fc.property(fc.array(repeated), fc.integer({ min: 0, max: 9 }), (texts, more) => {
        // Their length changes what is long: texts as long as the others leave the average where it is.
        const length = Math.max(1, ...texts.map((one) => one.length));
        const even = texts.map((one) => one.padEnd(length));
        const others = Array.from({ length: more }, () => "sky".padEnd(length));
        expect(rank("tide", [...even, ...others])).toEqual(rank("tide", even));
      }),
    );
  });

  it("ranks the same texts the same, and fewer places as the beginning of more", () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 60 }), pattern, fc.nat(40), (texts, words, most) => {
        const ranked = rankWhole(words, texts);
        expect(rankWhole(words, texts)).toEqual(ranked);
        const postings = (word: string) =>
          new Map(
            texts.flatMap((one, at) => {
              const times = [...wordsIn(one)].filter((found) => found === word).length;
              return times === 0 ? [] : [[at, times] as const];
            }),
          );
        const given = { lengths: texts.map(({ length }) => length), holding: postings, weigh: () => 1 };
        expect(rankTexts(parseWords(words), { ...given, isShownBy: () => false }, most)).toEqual(ranked.slice(0, most));
      }),
    );
  });

  it("shows different things first: what the best do not hold comes before what they hold too", () => {
    const texts = ["buoy", "buoy", "buoy", "tide wall", "tide wall", "tide wall", "sky", "sea", "sand"];
    expect(rank("tide wall buoy", texts)).toEqual([5, 4, 2, 3, 1, 0]);
  });

  it("gives a text that shows nothing new no place of its own, and loses none", () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 40 }), pattern, (texts, words) => {
        const ranked = rankWhole(words, texts, (at, better) => texts[at] === texts[better]);
        const first = ranked.slice(0, 20).map(({ at }) => texts[at]);
        expect(new Set(first).size).toBe(first.length);
        expect(sorted(ranked.flatMap(({ at, alike }) => [at, ...alike]))).toEqual(held(words, texts));
      }),
    );
  });

  it("takes a moment for a hundred thousand texts that are all alike", { tags: ["slow"] }, () => {
    const texts = Array.from({ length: 100_000 }, () => "tide");
    const [best, ...others] = rankWhole("tide", texts, () => true);
    expect([best?.at, best?.alike.length, others]).toEqual([99_999, 99_999, []]);
    expect(rank("tide", texts)).toHaveLength(100_000);
  });
});
