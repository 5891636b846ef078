import { describe, expect, it } from "vitest";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { formatTurnRange } from "../../../src/core/conversation/event.ts";
import { cutRangeOf, extendEventRange, locateRange } from "../../../src/core/conversation/range-location.ts";
import { parseConversation } from "../../helpers/notation.ts";
import { parseTurnRange } from "../../helpers/turn-range.ts";

// covers: 064 "The summariser reads raw events of the extended range"
// covers: history "Summary of summaries"

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

  it("takes bounds that a turn does not hold as lying behind what is there", () => {
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
