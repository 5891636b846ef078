import { describe, expect, it } from "vitest";
import { cutRangeOf, findEvent, isInRange, locateRange } from "../../../src/core/conversation/range-location.ts";
import { parseConversation } from "../../helpers/notation.ts";
import { parseTurnRange } from "../../helpers/turn-range.ts";

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
    expect(() => locate("U A | U A", "0..1:e7")).toThrowError(
      expect.objectContaining({
        kind: "user",
        code: "unknown_event",
        message: 'Turn 1 has no event "e7": expected an event id or a unique prefix of one.',
        hints: ["To list the events of the turn: jpg print --turn 1..1 --format jsonl"],
      }),
    );
    const ids = ["e0.0", "e0.1", "e0.2", "e0.3", "e0.4", "e0.5", "e0.6"];
    expect(() => locate("U A A A A A | U A", "0:e0..1")).toThrowError(
      expect.objectContaining({
        kind: "user",
        code: "ambiguous_event",
        message: '"e0" fits 7 events of turn 0: e0.0, e0.1, e0.2, e0.3, e0.4.',
        data: { matches: ids },
        hints: ["To list the events of the turn: jpg print --turn 0..0 --format jsonl"],
      }),
    );
  });
});

describe("where a located range is cut", () => {
  const turns = new Map(parseConversation("U T t A | U A N | U T t").map((turn) => [turn.index, turn]));
  const facts = { turnCount: 3, turns, touchesRequests: false };
  const at = (range: string, more: object = {}) => locateRange(parseTurnRange(range), { ...facts, ...more });
  const END = Number.POSITIVE_INFINITY;

  it.each<[string, object | null]>([
    ["0..1", { from: 0, fromIndex: 0, to: 1, toIndex: END }],
    ["0:e0.1..1", { from: 0, fromIndex: 1, to: 1, toIndex: END }],
    ["0:e0.0..1", { from: 0, fromIndex: 0, to: 1, toIndex: END }],
    ["0:e0.4..1:e1.1", { from: 0, fromIndex: 4, to: 1, toIndex: 1 }],
    ["0..1:e1.2", { from: 0, fromIndex: 0, to: 1, toIndex: 2 }],
    ["0..1:e1.3", { from: 0, fromIndex: 0, to: 1, toIndex: END }],
    ["0..1:e1.0", { from: 0, fromIndex: 0, to: 0, toIndex: END }],
    ["1:e1.3..2", { from: 2, fromIndex: 0, to: 2, toIndex: 1 }],
    ["0..2", { from: 0, fromIndex: 0, to: 2, toIndex: 1 }],
    ["2..2", { from: 2, fromIndex: 0, to: 2, toIndex: 1 }],
    ["1:e1.3..1", null],
    ["1..1:e1.0", null],
    ["1:e1.3..2:e2.0", null],
  ])("of %s is %j", (range, expected) => {
    expect(at(range)).toEqual(expected);
  });

  it("may be inside an unfinished loop where the end leaves it alone in another way", () => {
    const whole = { from: 0, fromIndex: 0, to: 2, toIndex: END };
    expect(at("0..2", { intoLoop: true })).toEqual(whole);
    expect(at("0..2", { intoLoop: true, touchesRequests: true })).toEqual(whole);
    expect(at("0..2", { intoLoop: false, touchesRequests: true })).toEqual({
      from: 0,
      fromIndex: 0,
      to: 1,
      toIndex: END,
    });
    expect(at("0..2", { turnCount: 4, touchesRequests: true })).toEqual(whole);
  });

  it("is given with the ids of its events, and in the newest turn always", () => {
    expect(cutRangeOf({ from: 0, fromIndex: 0, to: 1, toIndex: END }, facts)).toEqual({ from: 0, to: 1 });
    expect(cutRangeOf({ from: 0, fromIndex: 4, to: 1, toIndex: 1 }, facts)).toEqual({
      from: 0,
      fromEvent: "e0.4",
      to: 1,
      toEvent: "e1.1",
    });
    expect(cutRangeOf({ from: 2, fromIndex: 0, to: 2, toIndex: END }, facts)).toEqual({
      from: 2,
      to: 2,
      toEvent: "e2.3",
    });
    expect(cutRangeOf({ from: 0, fromIndex: 2, to: 2, toIndex: END }, { turnCount: 3, turns: new Map() })).toEqual({
      from: 0,
      to: 2,
    });
  });
});

describe("findEvent", () => {
  const [turn] = parseConversation("U A A A A A A A A A");

  it("takes an id before ids that begin with it", () => {
    expect(findEvent(turn!.events, "e0.1", 0)).toBe(1);
    expect(findEvent(turn!.events, "e0.10", 0)).toBe(10);
    expect(findEvent(turn!.events.slice(3), "e0.1", 0)).toBe(7);
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
