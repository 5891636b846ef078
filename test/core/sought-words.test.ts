// @module-tag law
// Words in texts: names in their parts; and that leaping from hit to hit misses none.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wordsIn } from "../../bench/hindsight/words-in.ts";
import { createWordFinder, parseWords } from "../../src/core/look/search-words.ts";
import { runs } from "../helpers/runs.ts";

function findAll(pattern: string, text: string): readonly string[] {
  const found: string[] = [];
  createWordFinder(parseWords(pattern))(text, ({ words, from, to }) => {
    expect([...wordsIn(text.slice(from, to))]).toEqual(expect.arrayContaining([...words]));
    found.push(...words);
  });
  return found;
}

const expected = (pattern: string, text: string): readonly string[] =>
  [...wordsIn(text)].filter((word) => parseWords(pattern).has(word));

describe("wordsIn", () => {
  it("gives whole names, then their parts", () => {
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

  it("is bounded on one word of ten million characters", () => {
    expect([...wordsIn("aB".repeat(5_000_000))]).toHaveLength(1);
  });
});

describe("createWordFinder", () => {
  it("finds exactly what a look at every word finds, whatever stands in the text", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "at",
        "data",
        "beAthens",
        "eat",
        "athens",
        "readTurn",
        "readturn",
        "READ_TURN",
        "HTTPServer",
        "x9at",
      ),
      fc.constantFrom(
        " ",
        "_",
        ".",
        "\n",
        "",
        "-",
        "é",
        "Été",
        "漢at字",
        "İstanbul",
        "istanbul",
        "ΑΣ",
        "ας",
        "\u212Aelvin",
        "ſea",
      ),
      fc.constantFrom("\ud801\udc00at", "\ud801", "🌊", "i\u0307", "sea", "kelvin", "turn", "Turn", "TURN"),
      fc.string({ maxLength: 3 }),
    );
    const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(""));
    const pattern = fc.oneof(
      fc.constantFrom("at", "eat athens", "readTurn", "turn", "İstanbul", "ας ΑΣ", "kelvin", "sea", "été", "漢at字"),
      fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => `at ${pieces.join(" ")}`),
    );
    fc.assert(
      fc.property(pattern, text, (words, whole) => {
        expect(findAll(words, whole)).toEqual(expected(words, whole));
      }),
      { numRuns: runs(1000) },
    );
  });

  it("is linear in runs of letters of any kind", () => {
    for (const run of ["at".repeat(500_000), "漢at字".repeat(200_000), "aT_".repeat(300_000), "é".repeat(1_000_000)])
      expect(findAll("at", `${run} at`)).toEqual(expected("at", `${run} at`));
  });
});
