import { describe, expect, it } from "vitest";
import { cutRangeOf, isInRange, locateRange } from "../../src/core/range-location.ts";
import { parseTurnRange } from "../../src/core/turn-range.ts";
import { parseConversation } from "../helpers/notation.ts";

/** Locates a range and gives it back with event ids; null when nothing is left. */
function locate(notation: string, range: string, touchesRequests = false): object | null {
  const turns = new Map(parseConversation(notation).map((turn) => [turn.index, turn]));
  const facts = { turnCount: turns.size, turns, touchesRequests };
  const located = locateRange(parseTurnRange(range), facts);
  return located === null ? null : cutRangeOf(located, facts);
}

describe("locateRange", () => {
  it.each<[string, string, object | null]>([
    ["U A | U A | U A", "0..1", { from: 0, to: 1 }],
    ["U A | U A | U A", "0..2", { from: 0, to: 2, toEvent: "e2.2" }],
    ["U A N | U A N", "0..1", { from: 0, to: 1, toEvent: "e1.3" }],
    ["U T t A | U A", "0:e0.3..1", { from: 0, fromEvent: "e0.4", to: 1, toEvent: "e1.2" }],
    ["U T t A | U A", "0..0:e0.2", { from: 0, to: 0, toEvent: "e0.1" }],
    ["U A | U T t A | U A", "0..1:e1.4", { from: 0, to: 1 }],
    ["U A | U T t A | U A", "0..1:e1.0", { from: 0, to: 0 }],
    ["U A | U T t A N | U A", "1:e1.5..2", { from: 2, to: 2, toEvent: "e2.2" }],
    ["U A N", "0:e0.3..0", null],
  ])("of %s over %s gives %j", (notation, range, expected) => {
    expect(locate(notation, range)).toEqual(expected);
  });

  it("ends before an unfinished tool loop of the newest turn", () => {
    expect(locate("U A | U T t A Q T t", "0..1")).toEqual({ from: 0, to: 1, toEvent: "e1.5" });
    expect(locate("U A | U T t", "0..1")).toEqual({ from: 0, to: 1, toEvent: "e1.1" });
    expect(locate("U T t | U A", "0..1")).toEqual({ from: 0, to: 1, toEvent: "e1.2" });
  });

  it("leaves the request of the loop out too when requests are changed", () => {
    expect(locate("U A | U T t A Q T t", "0..1", true)).toEqual({ from: 0, to: 1, toEvent: "e1.4" });
    expect(locate("U A | U T t", "0..1", true)).toEqual({ from: 0, to: 0 });
    expect(locate("U T t", "0..0", true)).toBeNull();
    expect(locate("S T t", "0..0")).toBeNull();
  });

  it("finds events by a unique prefix of their id", () => {
    expect(locate("U A | U A | U A", "0..1:e1.1")).toEqual({ from: 0, to: 1, toEvent: "e1.1" });
    const turns = new Map([
      [0, { index: 0, events: [{ type: "chat_request", id: "abc-def", timestamp: "t", content: "" }] }],
    ] as const);
    const facts = { turnCount: 2, turns, touchesRequests: false };
    expect(locateRange({ from: 0, to: 0, toEvent: "abc" }, facts)).toMatchObject({ from: 0, to: 0 });
  });

  it("refuses events that are not there or not clear", () => {
    expect(() => locate("U A | U A", "0..0:e7")).toThrowError(expect.objectContaining({ code: "unknown_event" }));
    expect(() => locate("U A | U A", "0..0:e0")).toThrowError(
      expect.objectContaining({ code: "ambiguous_event", data: { matches: ["e0.0", "e0.1", "e0.2"] } }),
    );
  });
});

describe("isInRange", () => {
  it("looks at positions only in the end turns", () => {
    const range = { from: 1, fromIndex: 2, to: 3, toIndex: 1 };
    const inside = [
      [1, 2],
      [2, 0],
      [2, 9],
      [3, 1],
    ] as const;
    const outside = [
      [0, 9],
      [1, 1],
      [3, 2],
      [4, 0],
    ] as const;
    expect(inside.every(([turn, index]) => isInRange(range, turn, index))).toBe(true);
    expect(outside.some(([turn, index]) => isInRange(range, turn, index))).toBe(false);
  });
});
