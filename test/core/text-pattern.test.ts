// @module-tag law
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findLine, parsePattern, plainForm } from "../../src/core/look/search-words.ts";

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
        hints: ["jpg search 'words as they stand' · jpg search --regex 'pier|wall'"],
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

  it("has a needle that stands in the JSON of every text that matches, however that is escaped", () => {
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

  it("gives the line of the first match, and where it stands in it", () => {
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

  it("shows the match itself, whatever stands around it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (before, after) => {
        const found = findLine([`${before}»tide«${after}`], parsePattern("»tide«"));
        expect(found?.line.slice(found.from, found.to)).toBe("»tide«");
        expect(found?.line).not.toContain("\n");
      }),
    );
  });
});
