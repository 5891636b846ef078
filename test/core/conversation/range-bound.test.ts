import { describe, expect, it } from "vitest";
import { boundAt, isBound, parseBound, parseTurnBound } from "../../../src/core/conversation/range-bound.ts";

const HOUR = 3_600_000;

describe("a date that does not exist", () => {
  it("is meant as a bound and refused as one", () => {
    expect(isBound("2026-13-01")).toBe(true);
    expect(isBound("2026-13-01-notes-k3f9/main")).toBe(false);
    expect(() => parseBound("2026-13-01")).toThrow(expect.objectContaining({ code: "bad_bound" }));
  });
});

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
    ["365250 d", { type: "ago", ms: 365_250 * 24 * HOUR }],
    ["12:a:b", { type: "event", turn: 12, event: "a:b" }],
    ["123456789", { type: "turn", turn: 123_456_789 }],
    ["-12", { type: "before_last", turns: 12 }],
    ["2 HOURS", { type: "ago", ms: 2 * HOUR }],
    ["1h 1h", { type: "ago", ms: 2 * HOUR }],
    ["0s", { type: "ago", ms: 0 }],
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
    "365251d",
    "5hs",
    "5ms",
    "x5",
    "x-3",
    "-3x",
    "-1234567890",
    "x5:e",
    "5:e f",
    "1234567890:e",
    "x5h",
    "5h 3",
    "1234567890s",
    "toString",
    "5toString",
    "xlast",
    "lastx",
    "k3f9/main",
  ])("refuses %j, listing the forms", (text) => {
    expect(isBound(text)).toBe(false);
    expect(() => parseBound(text)).toThrowError(
      expect.objectContaining({
        code: "bad_bound",
        kind: "user",
        message: `"${text}" is not a range bound: expected a turn, an event of a turn, a time or "last".`,
        data: { bound: text },
        hints: expect.arrayContaining([expect.stringContaining("5:EVENT")]),
      }),
    );
  });

  it.each([
    [["s", "sec", "secs", "second", "seconds"], 1000],
    [["m", "min", "mins", "minute", "minutes"], 60_000],
    [["h", "hr", "hrs", "hour", "hours"], HOUR],
    [["d", "day", "days"], 24 * HOUR],
    [["w", "week", "weeks"], 168 * HOUR],
  ])("reads the units %j", (names, ms) => {
    for (const name of names) expect(parseBound(`3 ${name}`)).toEqual({ type: "ago", ms: 3 * ms });
  });
});

describe("parseTurnBound", () => {
  it.each(["5", "-3", "5:toolu_01"])("reads %s as parseBound does", (text) => {
    expect(parseTurnBound(text)).toEqual(parseBound(text));
  });

  it.each(["last", "5h", "yesterday", "2026-11-22", "tomorrow", ""])("refuses %j and says what it may be", (text) => {
    expect(() => parseTurnBound(text)).toThrow(`"${text}" is not a turn: `);
    try {
      parseTurnBound(text);
    } catch (error) {
      const { hints } = error as { hints: readonly string[] };
      expect(hints.map((hint) => hint.split(/ {2,}/)[0])).toEqual(["5", "5:EVENT", "-3"]);
    }
  });
});

describe("boundAt", () => {
  it("is the bound of a turn, or of an event of it", () => {
    expect(boundAt(3)).toEqual({ type: "turn", turn: 3 });
    expect(boundAt(3, "e3.1")).toEqual({ type: "event", turn: 3, event: "e3.1" });
  });
});
