import { describe, expect, it } from "vitest";
import { isBound, parseBound } from "../../src/core/range-bound.ts";

const HOUR = 3_600_000;

describe("parseBound", () => {
  it.each([
    ["5", { type: "turn", turn: 5 }],
    ["0", { type: "turn", turn: 0 }],
    ["5:e5.2", { type: "event", turn: 5, event: "e5.2" }],
    ["-3", { type: "before_last", turns: 3 }],
    ["-0", { type: "before_last", turns: 0 }],
    ["last", { type: "last" }],
    ["5h", { type: "ago", ms: 5 * HOUR }],
    ["2d 3h", { type: "ago", ms: 51 * HOUR }],
    ["2d3h", { type: "ago", ms: 51 * HOUR }],
    ["90m", { type: "ago", ms: 1.5 * HOUR }],
    ["1 week", { type: "ago", ms: 168 * HOUR }],
    ["2 hours 30 mins", { type: "ago", ms: 2.5 * HOUR }],
    [" 45s ", { type: "ago", ms: 45_000 }],
  ])("reads %j", (text, bound) => {
    expect(parseBound(text)).toEqual(bound);
    expect(isBound(text)).toBe(true);
  });

  it.each([
    "",
    "five",
    "5x",
    "h",
    "5:",
    ":e",
    "--3",
    "1.5h",
    "last 3",
    "9999999999",
    "5h!",
    "999999999w",
    "3 months",
    "k3f9/main",
  ])("refuses %j, listing the forms", (text) => {
    expect(isBound(text)).toBe(false);
    expect(() => parseBound(text)).toThrowError(
      expect.objectContaining({
        code: "bad_bound",
        hints: expect.arrayContaining([expect.stringContaining("5:EVENT")]),
      }),
    );
  });
});
