// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wordsIn } from "../../../bench/hindsight/words-in.ts";
import {
  createWordFinder,
  findLine,
  parsePattern,
  parseWords,
  plainForm,
  type RankedText,
  rankTexts,
} from "../../../src/core/look/search-words.ts";
import { runs } from "../../helpers/runs.ts";

describe("parsePattern", () => {
  it("takes a text as it is", () => {
    const odd = String.raw`a.b*(c)[d]{e}|f\g^h$i?j+/k-l`;
    expect(parsePattern(odd).expression.test(`x${odd}y`)).toBe(true);
    expect(parsePattern("a.b").expression.test("axb")).toBe(false);
    expect(parsePattern("Pier").expression.test("pier")).toBe(false);
    expect(parsePattern("PIER", { ignoreCase: true }).expression.test("pier")).toBe(true);
  });

  it("takes a regular expression where asked to", () => {
    expect(parsePattern("pier|wall", { regex: true }).expression.test("the wall")).toBe(true);
  });

  it("refuses what is no pattern, saying why", () => {
    const refused = expect.objectContaining({ code: "bad_pattern" }) as Error;
    expect(() => parsePattern("")).toThrow(refused);
    expect(() => parsePattern("", { regex: true })).toThrow(refused);
    expect(() => parsePattern("(", { regex: true })).toThrow(refused);
    expect(() => parsePattern("")).toThrow(
      expect.objectContaining({
        message: "That cannot be searched for: the pattern is empty.",
        hints: ["jpg search 'exact words' · jpg search --regex 'pier|wall'"],
      }),
    );
    expect(() => parsePattern("(", { regex: true })).toThrow(/^That cannot be searched for: .*Unterminated group\.$/);
  });

  it.each([
    ["tide", {}, /tide/u, false, "tide"],
    ["Tide", { ignoreCase: true }, /Tide/iu, true, "Tide"],
    ["ti.de", { regex: true }, /ti.de/u, false, null],
    ["ti.de", { regex: true, ignoreCase: true }, /ti.de/iu, true, null],
    ['a"long"be', {}, /a"long"be/u, false, "long"],
    ["ab/cd", {}, /ab\/cd/u, false, "ab"],
    ['"\n', {}, /"\n/u, false, null],
  ])("makes of %j with %j what is ready to search with", (text, options, expression, ignoreCase, needle) => {
    const pattern = parsePattern(text, options);
    expect(pattern).toMatchObject({ expression: expect.any(RegExp), plain: expect.any(RegExp), ignoreCase });
    expect(pattern.needles?.[0] ?? null).toBe(needle);
    expect(pattern.expression.flags).toBe(expression.flags);
    if (!/\n/.test(text)) expect(pattern.expression.source).toBe(expression.source);
  });

  it("has a needle that is in the JSON of every matching text, however that is escaped", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "B", " ", '"', "\\", "/", "\n", "ä", "<", "é", "\t", "z.") });
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), text, fc.string(), (before, pattern, after) => {
        fc.pre(pattern !== "");
        const { needles, expression } = parsePattern(pattern);
        const whole = before + pattern + after;
        expect(expression.test(whole)).toBe(true);
        if (needles === null) return;
        const forms = [JSON.stringify(whole), JSON.stringify(whole).replaceAll("/", "\\/"), escapeAll(whole), whole];
        for (const form of forms) expect(form).toContain(needles[0]);
      }),
    );
  });
});

describe("texts that look alike", () => {
  const forms = (text: string) => [text.normalize("NFC"), text.normalize("NFD")];
  const finds = (text: string, pattern: string, options = {}) => {
    const parsed = parsePattern(pattern, options);
    const found = findLine([text], parsed);
    const isRead = parsed.needles === null || parsed.needles.some((needle) => JSON.stringify(text).includes(needle));
    return isRead && found !== null;
  };

  it.each(["Das Büro in Zürich", "한글 파일", "Ångström", "ệ", "naïve café"])("%s, composed or not", (text) => {
    for (const said of forms(text))
      for (const sought of forms(text)) {
        expect(finds(`x ${said} y`, sought)).toBe(true);
        expect(finds(`x ${said} y`, sought, { ignoreCase: true })).toBe(true);
        expect(finds(`x ${said} y`, sought, { regex: true })).toBe(true);
      }
  });

  it("with blanks of several kinds, and with characters that nobody sees", () => {
    for (const blank of ["\u00a0", "\u202f", "\u2009", "\u3000"]) {
      expect(finds(`10${blank}km`, "10 km")).toBe(true);
      expect(finds("10 km", `10${blank}km`)).toBe(true);
    }
    for (const unseen of ["\u00ad", "\u200b", "\u2060", "\ufeff"]) {
      expect(finds(`sea${unseen}wall`, "seawall")).toBe(true);
      expect(finds("seawall", `sea${unseen}wall`)).toBe(true);
      expect(finds(`sea${unseen}wall`, unseen)).toBe(true);
      expect(finds("seawall", unseen)).toBe(false);
    }
  });

  it("and takes an expression as it is typed before it takes it in plain form", () => {
    const said = "Das Büro".normalize("NFD");
    expect(finds(said, "B.ro", { regex: true })).toBe(true);
    expect(finds(said, "u\\u0308", { regex: true })).toBe(true);
    expect(finds("a\u00a0b", "a\\u00a0b", { regex: true })).toBe(true);
    expect(finds("a\u00a0b", "a[\u00a0]b", { regex: true })).toBe(true);
    expect(() => parsePattern("a\\\u00a0", { regex: true })).toThrow(/invalid escape/i);
  });

  it("shows the line in plain form where only that was found", () => {
    const found = findLine(["Das Büro".normalize("NFD")], parsePattern("Büro"));
    expect(found).toEqual({ line: "Das Büro", from: 4, to: 8 });
    expect(plainForm("plain")).toBe("plain");
  });
});

/** As the most careful writers of JSON do. */
function escapeAll(text: string): string {
  return JSON.stringify(text).replace(
    /[<>&'\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

describe("findLine", () => {
  const line = (texts: readonly string[], pattern: string): unknown => findLine(texts, parsePattern(pattern));

  it("gives the line of the first match, and its place in it", () => {
    expect(line(["nothing", "one\n  the tide \t rises\nthree"], "tide")).toEqual({
      line: "the tide rises",
      from: 4,
      to: 8,
    });
    expect(line(["nothing"], "tide")).toBeNull();
  });

  it("cuts the far ends of a long line", () => {
    const found = findLine([`${"a".repeat(500)} tide ${"b".repeat(500)}`], parsePattern("tide"));
    expect(found?.line).toMatch(/^…a{59} tide b+…$/);
    expect(found?.line.slice(found.from, found.to)).toBe("tide");
    expect(found?.line.length).toBeLessThan(165);
  });

  it.each<[string, string, string, object]>([
    ["a match at the start", "tide rises\nlater", "tide", { line: "tide rises", from: 0, to: 4 }],
    ["a match at the end", "first\nthe tide", "tide", { line: "the tide", from: 4, to: 8 }],
    [
      "a match over lines, as far as its first goes",
      "a tide\nrises",
      "tide\nrises",
      { line: "a tide", from: 2, to: 6 },
    ],
    [
      "a line that just fits before it",
      `${"a".repeat(60)}tide`,
      "tide",
      { line: `${"a".repeat(60)}tide`, from: 60, to: 64 },
    ],
    ["a line that does not", `${"a".repeat(61)}tide`, "tide", { line: `…${"a".repeat(60)}tide`, from: 61, to: 65 }],
    ["a line that just fits", `tide${"b".repeat(156)}`, "tide", { line: `tide${"b".repeat(156)}`, from: 0, to: 4 }],
    ["a line that is too long", `tide${"b".repeat(157)}`, "tide", { line: `tide${"b".repeat(156)}…`, from: 0, to: 4 }],
    ["a match that is too long", "x".repeat(200), "x".repeat(200), { line: `${"x".repeat(160)}…`, from: 0, to: 160 }],
    ["blanks around it", "  \t the  tide  \t ", "tide", { line: "the tide", from: 4, to: 8 }],
    [
      "half a character before it",
      `\u{1F30A}${"a".repeat(59)}tide`,
      "tide",
      { line: `…${"a".repeat(59)}tide`, from: 60, to: 64 },
    ],
    [
      "half a character behind it",
      `tide${"b".repeat(155)}\u{1F30A}`,
      "tide",
      { line: `tide${"b".repeat(155)}…`, from: 0, to: 4 },
    ],
  ])("shows %s", (_, text, pattern, found) => {
    expect(line([text], pattern)).toEqual(found);
  });

  it("looks at texts in order and at none after the match", () => {
    expect(line(["no", "tide one", "tide two"], "tide")).toEqual({ line: "tide one", from: 0, to: 4 });
  });

  it("shows the match itself, whatever surrounds it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (before, after) => {
        const found = findLine([`${before}»tide«${after}`], parsePattern("»tide«"));
        expect(found?.line.slice(found.from, found.to)).toBe("»tide«");
        expect(found?.line).not.toContain("\n");
      }),
    );
  });
});

// Ranking by words: rare before common, different things first, and always an order.

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

// Words in texts: names in their parts; and that leaping from hit to hit misses none.

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
  it("finds exactly what splitting every word finds, in any text", () => {
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
