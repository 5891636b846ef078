// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { longestRising, type Places } from "../../../src/app/diff/view-text.ts";

function isRising(places: readonly Places[]): boolean {
  return places.every(([left, right], index) => {
    const previous = places[index - 1];
    return previous === undefined || (previous[0] < left && previous[1] < right);
  });
}

/** The length of the longest rising subsequence, by trying all pairs. */
function slowLength(rights: readonly number[]): number {
  const best: number[] = [];
  rights.forEach((right, index) => {
    best.push(1 + Math.max(0, ...rights.slice(0, index).map((earlier, at) => (earlier < right ? best[at]! : 0))));
  });
  return Math.max(0, ...best);
}

describe("longestRising", () => {
  it("keeps as many places as can rise on both sides", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 50 }), { maxLength: 30 }), (rights) => {
        const chain = longestRising(rights.map((right, left) => [left, right]));
        expect(isRising(chain)).toBe(true);
        expect(chain).toHaveLength(slowLength(rights));
      }),
    );
  });
});
