import { describe, expect, it } from "vitest";
import {
  formatTurnRange,
  joinRuns,
  parseTurnRange,
  rangeContains,
  rangesIntersect,
} from "../../../src/core/range/turn-range.ts";

describe("turn ranges", () => {
  it.each(["0..12", "3:e3.1..12:e12.4", "0..5:a1b2", "7:x..7"])("reads %s back as it was written", (text) => {
    expect(formatTurnRange(parseTurnRange(text))).toBe(text);
  });

  it("reads one position as a range of one turn", () => {
    expect(parseTurnRange(" 5 ")).toEqual({ from: 5, to: 5 });
    expect(parseTurnRange("123456789")).toEqual({ from: 123_456_789, to: 123_456_789 });
  });

  it("reads both ends, with what is cut of them", () => {
    expect(parseTurnRange(" 10..12\n")).toEqual({ from: 10, to: 12 });
    expect(parseTurnRange("4..4")).toEqual({ from: 4, to: 4 });
    expect(parseTurnRange("3:a..12")).toEqual({ from: 3, fromEvent: "a", to: 12 });
    expect(parseTurnRange("3:ab..5:b..6")).toEqual({ from: 3, fromEvent: "ab", to: 5, toEvent: "b..6" });
  });

  it.each([
    "",
    "a..b",
    "5..",
    "..5",
    "-1..3",
    "9..2",
    "1...3",
    "x5",
    "5x",
    "x0..2",
    "0..2x",
    "0..2 3",
    "0:..2",
    "0..2:",
    "0:a b..2",
    "1234567890",
    "0..1234567890",
    "1234567890..1234567891",
  ])("refuses %j with bad_range", (text) => {
    expect(() => parseTurnRange(text)).toThrowError(
      expect.objectContaining({
        kind: "user",
        code: "bad_range",
        message: `cannot read "${text}" as a turn range: expected FIRST..LAST with FIRST <= LAST`,
        hints: ["turns are counted from 0 and both ends are included: 0..12, or 5 for one turn"],
      }),
    );
  });

  it.each([
    ["none", [], []],
    [
      "those apart, in order",
      [
        [4, 5],
        [0, 2],
      ],
      [
        [0, 2],
        [4, 5],
      ],
    ],
    [
      "those that follow each other",
      [
        [3, 5],
        [0, 2],
      ],
      [[0, 5]],
    ],
    [
      "those that share turns",
      [
        [2, 5],
        [0, 3],
      ],
      [[0, 5]],
    ],
    [
      "one within another",
      [
        [0, 9],
        [2, 3],
      ],
      [[0, 9]],
    ],
    [
      "a chain",
      [
        [0, 1],
        [2, 2],
        [3, 6],
        [8, 8],
        [9, 9],
      ],
      [
        [0, 6],
        [8, 9],
      ],
    ],
  ])("joins %s", (_what, ranges, joined) => {
    const of = (pairs: readonly (readonly number[])[]) => pairs.map(([from = 0, to = 0]) => ({ from, to }));
    expect(joinRuns(of(ranges))).toEqual(of(joined));
  });

  it("does not call ranges that only touch an intersection", () => {
    expect(rangesIntersect({ from: 0, to: 2 }, { from: 3, to: 5 })).toBe(false);
    expect(rangesIntersect({ from: 3, to: 5 }, { from: 0, to: 2 })).toBe(false);
    expect(rangesIntersect({ from: 0, to: 3 }, { from: 3, to: 5 })).toBe(true);
    expect(rangesIntersect({ from: 3, to: 5 }, { from: 0, to: 3 })).toBe(true);
  });

  it("lets equal ranges contain each other", () => {
    expect(rangeContains({ from: 1, to: 4 }, { from: 1, to: 4 })).toBe(true);
    expect(rangeContains({ from: 1, to: 4 }, { from: 0, to: 4 })).toBe(false);
    expect(rangeContains({ from: 1, to: 4 }, { from: 1, to: 5 })).toBe(false);
    expect(rangeContains({ from: 1, to: 4 }, { from: 2, to: 3 })).toBe(true);
  });
});
