// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rangeContains, type TurnRange } from "../../../src/core/conversation/event.ts";
import { extendSummaryRange, overlapsPartly } from "../../../src/core/conversation/range-location.ts";

const range = (from: number, to: number): TurnRange => ({ from, to });
const anyRange = fc.tuple(fc.nat(20), fc.nat(6)).map(([from, length]) => range(from, from + length));

describe("extendSummaryRange", () => {
  it.each([
    ["overlaps on the left", range(3, 8), [range(0, 4)], range(0, 8)],
    ["overlaps on the right", range(0, 4), [range(3, 8)], range(0, 8)],
    ["is contained", range(4, 6), [range(0, 9)], range(4, 6)],
    ["contains", range(0, 9), [range(3, 5)], range(0, 9)],
    ["only touches", range(0, 2), [range(3, 5)], range(0, 2)],
    ["is equal", range(3, 7), [range(3, 7)], range(3, 7)],
    ["starts a chain", range(4, 5), [range(7, 9), range(5, 6), range(6, 7)], range(4, 9)],
    ["outgrows what contained it", range(3, 7), [range(2, 8), range(5, 9)], range(2, 9)],
  ])("a range that %s", (_name, wanted, summaries, expected) => {
    expect(extendSummaryRange(wanted, summaries)).toEqual(expected);
  });

  it.each([
    [range(0, 4), range(5, 9), false],
    [range(0, 5), range(5, 9), true],
    [range(0, 9), range(5, 9), false],
    [range(0, 9), range(0, 3), false],
    [range(2, 3), range(2, 3), false],
    [range(2, 6), range(1, 5), true],
  ])("tells of %j and %j whether they overlap in part: %s, whichever is first", (a, b, expected) => {
    expect(overlapsPartly(a, b)).toBe(expected);
    expect(overlapsPartly(b, a)).toBe(expected);
  });

  it("leaves no partial overlap and never shrinks", () => {
    fc.assert(
      fc.property(anyRange, fc.array(anyRange, { maxLength: 8 }), (wanted, summaries) => {
        const extended = extendSummaryRange(wanted, summaries);
        expect(rangeContains(extended, wanted)).toBe(true);
        expect(summaries.some((summary) => overlapsPartly(extended, summary))).toBe(false);
      }),
    );
  });

  it("does not depend on the order of the summaries", () => {
    const shuffled = fc.array(anyRange, { maxLength: 8 }).chain((list) => {
      const other = fc.shuffledSubarray(list, { minLength: list.length });
      return fc.tuple(fc.constant(list), other);
    });
    fc.assert(
      fc.property(anyRange, shuffled, (wanted, [list, other]) => {
        expect(extendSummaryRange(wanted, other)).toEqual(extendSummaryRange(wanted, list));
      }),
    );
  });
});
