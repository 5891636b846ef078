import { describe, expect, it } from "vitest";
import { formatTurnRange, parseTurnRange, rangeContains, rangesIntersect } from "../../src/core/turn-range.ts";

describe("turn ranges", () => {
  it.each(["0..12", "3:e3.1..12:e12.4", "0..5:a1b2", "7:x..7"])("reads %s back as it was written", (text) => {
    expect(formatTurnRange(parseTurnRange(text))).toBe(text);
  });

  it("reads one position as a range of one turn", () => {
    expect(parseTurnRange(" 5 ")).toEqual({ from: 5, to: 5 });
  });

  it.each(["", "a..b", "5..", "-1..3", "9..2", "1...3"])("refuses %j with bad_range", (text) => {
    expect(() => parseTurnRange(text)).toThrowError(expect.objectContaining({ code: "bad_range" }));
  });

  it("does not call ranges that only touch an intersection", () => {
    expect(rangesIntersect({ from: 0, to: 2 }, { from: 3, to: 5 })).toBe(false);
    expect(rangesIntersect({ from: 0, to: 3 }, { from: 3, to: 5 })).toBe(true);
  });

  it("lets equal ranges contain each other", () => {
    expect(rangeContains({ from: 1, to: 4 }, { from: 1, to: 4 })).toBe(true);
    expect(rangeContains({ from: 1, to: 4 }, { from: 0, to: 4 })).toBe(false);
  });
});
