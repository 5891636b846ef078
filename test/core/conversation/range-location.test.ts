import { describe, expect, it } from "vitest";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { formatTurnRange } from "../../../src/core/conversation/event.ts";
import {
  cutRangeOf,
  extendEventRange,
  findEvent,
  isInRange,
  locateRange,
} from "../../../src/core/conversation/range-location.ts";
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
        hints: ["To list the events of the turn: jpg print 1 --format jsonl"],
      }),
    );
    const ids = ["e0.0", "e0.1", "e0.2", "e0.3", "e0.4", "e0.5", "e0.6"];
    expect(() => locate("U A A A A A | U A", "0:e0..1")).toThrowError(
      expect.objectContaining({
        kind: "user",
        code: "ambiguous_event",
        message: '"e0" fits 7 events of turn 0: e0.0, e0.1, e0.2, e0.3, e0.4.',
        data: { matches: ids },
        hints: ["To list the events of the turn: jpg print 0 --format jsonl"],
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

const turns = new Map(
  parseConversation("U A | U A | U T t A T t A | U A | U T t A T t A | U A").map((turn) => [turn.index, turn]),
);
const facts = { turnCount: 6, turns, touchesRequests: true };

function live(range: string, more: Partial<Compaction> = { summary: { summary: "s" } }): Compaction {
  const { from, fromEvent, to, toEvent } = parseTurnRange(range);
  return {
    type: "compaction",
    id: range,
    timestamp: "2026-02-01T00:00:00Z",
    from_turn: from,
    to_turn: to,
    ...(fromEvent === undefined ? {} : { from_event: fromEvent }),
    ...(toEvent === undefined ? {} : { to_event: toEvent }),
    ...more,
  };
}

function extend(range: string, ...compactions: readonly Compaction[]): string {
  const located = locateRange(parseTurnRange(range), facts);
  return located === null
    ? "nothing"
    : formatTurnRange(cutRangeOf(extendEventRange(located, compactions, facts), facts));
}

describe("extendEventRange", () => {
  it("extends over whole turns as summary ranges do", () => {
    expect(extend("2..3", live("0..2"))).toBe("0..3");
    expect(extend("1..3", live("0..4"))).toBe("1..3");
    expect(extend("2..3", live("0..1"))).toBe("2..3");
  });

  it("sees where in a turn a summary ends", () => {
    expect(extend("2:e2.5..3", live("0..2:e2.4"))).toBe("2:e2.5..3");
    expect(extend("1..2:e2.7", live("0..2:e2.4"))).toBe("0..2");
    expect(extend("0..2:e2.4", live("1..2:e2.7"))).toBe("0..2");
    expect(extend("1..2:e2.4", live("0..2:e2.7"))).toBe("1..2:e2.4");
  });

  it("takes a summary up to the last event of a turn for one of the whole turn", () => {
    expect(extend("0..2", live("1..2:e2.7"))).toBe("0..2");
    expect(extend("1..2", live("0..2:e2.7"))).toBe("1..2");
  });

  it("gives the bounds of the summary it grew over", () => {
    expect(extend("0..2", live("2:e2.4..4:e4.4"))).toBe("0..4:e4.4");
    expect(extend("3..4", live("2:e2.5..3"))).toBe("2:e2.5..4");
  });

  it("counts replacements as summaries, and neither mechanical compactions nor omissions", () => {
    expect(extend("2..3", live("0..2", { replacement: [] }))).toBe("0..3");
    expect(extend("2..3", live("0..2", { reasoning: "strip" }), live("0..2", { turns: "omit" }))).toBe("2..3");
  });

  it("takes bounds that a turn lacks as lying after its end", () => {
    expect(extend("1..2", live("2:gone..3"))).toBe("1..2");
    expect(extend("1..3", live("2:gone..4"))).toBe("1..4");
    expect(extend("0..2", live("1..2:gone"))).toBe("0..2");
    expect(extend("1..2", live("2:gone..2"))).toBe("1..2");
  });

  it("sees a summary of a single turn", () => {
    expect(extend("2:e2.5..3", live("2..2"))).toBe("2..3");
    expect(extend("1..2:e2.4", live("2..2"))).toBe("1..2");
  });

  it("finds each of several bounds in one turn its place", () => {
    expect(extend("2:e2.4..2:e2.6", live("2:e2.5..3"), live("1..2:e2.4"))).toBe("1..3");
    expect(extend("2:e2.5..2:e2.6", live("1..2:e2.4"), live("2:e2.7..3"))).toBe("2:e2.5..2:e2.6");
    expect(extend("4:e4.4..5", live("4:e4.2..4:e4.4"), live("2:e2.2..4:e4.3"))).toBe("2:e2.2..5:e5.2");
  });

  it("counts a bound in a turn that was not read as the whole turn", () => {
    const unread = { turnCount: 6, turns: new Map() };
    const whole = (from: number, to: number) => ({ from, fromIndex: 0, to, toIndex: Number.POSITIVE_INFINITY });
    expect(extendEventRange(whole(1, 2), [live("0..2:e2.4")], unread)).toEqual(whole(1, 2));
    expect(extendEventRange(whole(1, 2), [live("2:e2.4..3")], unread)).toEqual(whole(1, 3));
  });

  it("takes no notice of the end event of a summary that reaches past the newest turn", () => {
    expect(extend("4..5:e5.1", live("3..6:e5.1"))).toBe("4..5:e5.1");
    expect(extend("2..4", live("3..6:e5.1"))).toBe("2..5:e5.2");
    expect(extend("2..4", live("3..99:e5.1"))).toBe("2..5:e5.2");
    expect(extend("2..4", live("3..5:e5.1"))).toBe("2..5:e5.1");
    expect(extend("2..4", live("9..12"))).toBe("2..4");
  });

  it("clamps summaries to the conversation and ignores inverted ones", () => {
    expect(extend("3..3", live("3..99"))).toBe("3..3");
    expect(extend("2..4", live("3..99"))).toBe("2..5:e5.2");
    expect(extend("2..4", { ...live("3..5"), from_turn: 5, to_turn: 3 })).toBe("2..4");
  });
});
