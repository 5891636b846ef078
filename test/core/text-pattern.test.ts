import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findLine, parsePattern } from "../../src/core/text-pattern.ts";

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
    expect(() => parsePattern("(", { regex: true })).toThrow(refused);
  });

  it("has a needle that stands in the JSON of every text that matches, however that is escaped", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "B", " ", '"', "\\", "/", "\n", "ä", "<", "é", "\t", "z.") });
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), text, fc.string(), (before, pattern, after) => {
        fc.pre(pattern !== "");
        const { needle, expression } = parsePattern(pattern);
        const whole = before + pattern + after;
        expect(expression.test(whole)).toBe(true);
        if (needle === null) return;
        const forms = [JSON.stringify(whole), JSON.stringify(whole).replaceAll("/", "\\/"), escapeAll(whole), whole];
        for (const form of forms) expect(form).toContain(needle);
      }),
    );
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
