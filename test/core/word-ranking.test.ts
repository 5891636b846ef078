// Ranking by words: names in their parts, rare before common, and always an order.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseWords, rankTexts, wordsIn } from "../../src/core/word-ranking.ts";

function rank(pattern: string, texts: readonly string[], weigh: (at: number) => number = () => 1): readonly number[] {
  const words = texts.map((text) => [...wordsIn(text)]);
  const holding = (word: string): ReadonlyMap<number, number> | undefined => {
    const places = words.flatMap((of, at): [number, number][] => {
      const times = of.filter((other) => other === word).length;
      return times === 0 ? [] : [[at, times]];
    });
    return places.length === 0 ? undefined : new Map(places);
  };
  const ranked = rankTexts(parseWords(pattern), { lengths: words.map(({ length }) => length), holding, weigh });
  return ranked.map(({ at }) => at);
}

describe("rankTexts", () => {
  it("puts rare words before common ones, and of equal texts the later first", () => {
    expect(rank("the tide", ["the sea", "the tide", "the sky", "the sea"])).toEqual([1, 3, 2, 0]);
  });

  it("finds names by their parts, whole names first", () => {
    expect([...wordsIn("readTurn max_size HTTPServer")]).toEqual([
      "readturn",
      "read",
      "turn",
      "max_size",
      "max",
      "size",
      "httpserver",
      "http",
      "server",
    ]);
    expect(rank("readTurn", ["a turn", "call readTurn here", "nothing"])).toEqual([1, 0]);
  });

  it("gives no parts of words that have one, in whatever script", () => {
    expect([...wordsIn("tide Été HTTP 2030 漢字 x9 ABCd")]).toEqual([
      "tide",
      "été",
      "http",
      "2030",
      "漢字",
      "x9",
      "abcd",
      "ab",
      "cd",
    ]);
  });

  it("takes only what holds a word, each once, whatever the texts and words are", () => {
    const text = fc
      .array(fc.constantFrom("tide", "readTurn", "turn", "sea", "\u0000", "é", "🌊", "max_size"))
      .map((words) => words.join(" "));
    fc.assert(
      fc.property(fc.array(text), fc.constantFrom("tide", "turn sea", "readTurn", "size"), (texts, pattern) => {
        const ranked = rank(pattern, texts);
        const held = texts.flatMap((one, at) =>
          [...wordsIn(one)].some((word) => parseWords(pattern).has(word)) ? [at] : [],
        );
        expect([...ranked].sort((a, b) => a - b)).toEqual(held);
      }),
    );
  });

  it("is bounded on one word of ten million characters", () => {
    expect([...wordsIn("aB".repeat(5_000_000))]).toHaveLength(1);
  });
});
