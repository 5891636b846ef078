// @module-tag law
// Whether lines stand among others: exact for few, a sound guess for many.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sketchLines, standsIn } from "../../src/core/conversation/merge-sides.ts";

const lines = fc.array(fc.string(), { maxLength: 30 });
const numbered = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from }, (_, at) => `line ${from + at}`);

describe("standsIn", () => {
  it("is exact for few lines: nine of ten have to stand there, in whatever order", () => {
    fc.assert(
      fc.property(lines, lines, (some, others) => {
        const distinct = new Set(some.map((line) => line.trim()));
        const there = new Set(others.map((line) => line.trim()));
        const shared = [...distinct].filter((line) => there.has(line)).length;
        const isMost = distinct.size > 0 && shared >= 0.9 * distinct.size;
        expect(standsIn(sketchLines(some), sketchLines([...others].reverse()))).toBe(isMost);
      }),
    );
  });

  it("knows a piece of a long text, and a long text that is another one", () => {
    const whole = sketchLines(numbered(0, 5000));
    expect(standsIn(sketchLines(numbered(100, 5000)), whole)).toBe(true);
    expect(standsIn(sketchLines(numbered(3000, 8000)), whole)).toBe(false);
    expect(standsIn(sketchLines(numbered(9000, 9900)), whole)).toBe(false);
    expect(standsIn(whole, sketchLines(numbered(0, 500)))).toBe(false);
  });

  it("takes no lines for something that stands nowhere", () => {
    expect(standsIn(sketchLines([]), sketchLines(["tide"]))).toBe(false);
  });
});
