// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { alignBlocks, longestIncreasing, type Places, viewBlocks } from "../../../src/app/diff/view-text.ts";
import { answer, kept, request, summary, view } from "../../helpers/sample-view.ts";

const anyView = fc
  .array(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 5 }), { maxLength: 5 })
  .map((turns) => view(...turns.map((ids, index) => kept(index, ...ids.map((id) => answer(`e${id}`, "text"))))));

describe("alignBlocks", () => {
  it("gives both lists back in their order", () => {
    fc.assert(
      fc.property(anyView, anyView, (a, b) => {
        const [before, after] = [viewBlocks(a), viewBlocks(b)];
        const pairs = alignBlocks(before, after);
        expect(pairs.map((pair) => pair.before).filter((block) => block !== null)).toEqual(before);
        expect(pairs.map((pair) => pair.after).filter((block) => block !== null)).toEqual(after);
      }),
    );
  });

  it("pairs an event by its id, however its text changed", () => {
    const before = viewBlocks(view(kept(0, answer("a", "one"), answer("b", "two"))));
    const after = viewBlocks(view(kept(0, answer("b", "changed"))));
    const titles = alignBlocks(before, after).map((pair) => [pair.before?.event?.id, pair.after?.event?.id]);
    expect(titles).toEqual([
      [undefined, undefined],
      ["a", undefined],
      ["b", "b"],
    ]);
  });

  it("never pairs a turn with the summary that replaced it", () => {
    const before = viewBlocks(view(kept(0, request("r", "Hi"))));
    const after = viewBlocks(view(summary(0, 0, "k1", request("s", "They said hi."))));
    expect(alignBlocks(before, after).every((pair) => pair.before === null || pair.after === null)).toBe(true);
  });
});

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

describe("longestIncreasing", () => {
  it("keeps as many places as can rise on both sides", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 50 }), { maxLength: 30 }), (rights) => {
        const chain = longestIncreasing(rights.map((right, left) => [left, right]));
        expect(isRising(chain)).toBe(true);
        expect(chain).toHaveLength(slowLength(rights));
      }),
    );
  });
});
