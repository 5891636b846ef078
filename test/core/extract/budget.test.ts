// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { charsOf, createPurse, extractBudget, fairCap, takeLines } from "../../../src/core/compact/extract.ts";

describe("extractBudget", () => {
  it("is a share of a small range, less of a large one, enough for the sections, and never more than 6,000 tokens", () => {
    expect(extractBudget(100)).toBe(250);
    expect(extractBudget(20_000)).toBe(1600);
    expect(extractBudget(50_000)).toBe(4000);
    expect(extractBudget(100_000)).toBe(5000);
    expect(extractBudget(10_000_000)).toBe(6000);
  });
});

describe("fairCap", () => {
  it("leaves what fits whole and shares the rest", () => {
    expect(fairCap([10, 20, 30], 60)).toBe(Number.POSITIVE_INFINITY);
    expect(fairCap([10, 100, 100], 90)).toBe(40);
    expect(fairCap([5], 0)).toBe(0);
    expect(fairCap([], 10)).toBe(Number.POSITIVE_INFINITY);
  });

  it("never takes more than there is, nor leaves room for a character each", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(500), { minLength: 1 }), fc.nat(5000), (lengths, chars) => {
        const cap = fairCap(lengths, chars);
        const taken = (most: number): number => lengths.reduce((sum, length) => sum + Math.min(length, most), 0);
        expect(taken(cap)).toBeLessThanOrEqual(chars);
        if (cap !== Number.POSITIVE_INFINITY) expect(taken(cap + 1)).toBeGreaterThan(chars);
      }),
    );
  });
});

describe("takeLines", () => {
  it("passes a line over that does not fit, and counts line ends", () => {
    expect(takeLines(["abc", "long line", "de"], 7)).toEqual(["abc", "de"]);
    expect(charsOf(["abc", "de"])).toBe(7);
  });
});

describe("createPurse", () => {
  it("hands on what a taker leaves", () => {
    const take = createPurse(100);
    const given: number[] = [];
    const use = (share: number, used: number) =>
      take(
        share,
        (chars) => {
          given.push(chars);
          return used;
        },
        (written) => written,
      );
    use(0.5, 20);
    use(0.25, 60);
    use(0.25, 0);
    expect(given).toEqual([50, 55, 25]);
    expect(createPurse(-5)(1, (chars) => chars, Number)).toBe(0);
  });
});
