import { describe, expect, it } from "vitest";
import {
  type BoundFacts,
  furthestCompactedEnd,
  resolveFrom,
  resolveTo,
} from "../../../src/core/conversation/bound-resolution.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { parseBound } from "../../../src/core/conversation/range-bound.ts";
import { parseConversation } from "../../helpers/notation.ts";

const turns = parseConversation("U A | U T t A | U A | U R A | U A");

function compaction(from_turn: number, to_turn: number, more: Partial<Compaction> = {}): Compaction {
  return {
    type: "compaction",
    id: `c${from_turn}-${to_turn}`,
    timestamp: "2026-01-02T00:00:00Z",
    from_turn,
    to_turn,
    reasoning: "strip",
    ...more,
  };
}

function facts(compactions: readonly Compaction[] = []): BoundFacts {
  return {
    turnCount: turns.length,
    // Turn n starts n hours into the day.
    turnTimes: turns.map(({ events }) => events[0]?.timestamp ?? ""),
    compactions,
    turns: new Map(turns.map((turn) => [turn.index, turn])),
    now: "2026-01-01T05:30:00Z",
  };
}

const from = (bound: string, compactions?: readonly Compaction[]) => resolveFrom(parseBound(bound), facts(compactions));
const to = (bound: string, compactions?: readonly Compaction[]) => resolveTo(parseBound(bound), facts(compactions));

describe("the first covered position", () => {
  it.each([
    ["2", { turn: 2 }],
    ["7", { turn: 7 }],
    ["1:e1.2", { turn: 1, event: "e1.2" }],
    ["-1", { turn: 3 }],
    ["-30", { turn: 0 }],
    ["2h", { turn: 4 }],
    ["150m", { turn: 3 }],
    ["9d", { turn: 0 }],
    ["1h", null],
    ["last", { turn: 0 }],
    ["-0", { turn: 4 }],
    ["-4", { turn: 0 }],
    ["-5", { turn: 0 }],
    ["90m", { turn: 4 }],
    ["91m", { turn: 4 }],
    ["89m", null],
  ])("of --from %s is %j", (bound, position) => {
    expect(from(bound)).toEqual(position);
  });

  it("of `last` is one past the turn that compactions reach furthest", () => {
    expect(from("last", [compaction(0, 2), compaction(0, 1)])).toEqual({ turn: 3 });
    expect(from("last", [compaction(0, 99)])).toEqual({ turn: 5 });
  });

  it("of `last` is the next event of the turn when the compaction ended inside it", () => {
    expect(from("last", [compaction(0, 3, { to_event: "e3.1" })])).toEqual({ turn: 3, event: "e3.2" });
    expect(from("last", [compaction(0, 3, { to_event: "e3.1" }), compaction(1, 3, { to_event: "e3.2" })])).toEqual({
      turn: 3,
      event: "e3.3",
    });
  });

  it("of `last` is one past when the compaction ended with the turn's last event", () => {
    expect(from("last", [compaction(0, 3, { to_event: "e3.3" })])).toEqual({ turn: 4 });
    expect(from("last", [compaction(0, 3, { to_event: "e3.1" }), compaction(0, 3)])).toEqual({ turn: 4 });
  });
});

describe("the first covered position after the last summary", () => {
  const behind = (compactions: readonly Compaction[]) => resolveFrom({ type: "last_summary" }, facts(compactions));

  it("ignores compactions that replace nothing", () => {
    expect(behind([compaction(0, 3)])).toEqual({ turn: 0 });
    expect(behind([compaction(0, 1, { summary: { summary: "…" } }), compaction(0, 3)])).toEqual({ turn: 2 });
    expect(behind([compaction(0, 2, { replacement: [] }), compaction(0, 3)])).toEqual({ turn: 3 });
  });
});

describe("the last covered position", () => {
  it.each([
    ["2", { turn: 2 }],
    ["70", { turn: 4 }],
    ["1:e1.2", { turn: 1, event: "e1.2" }],
    ["70:x", { turn: 4 }],
    ["-1", { turn: 3 }],
    ["-30", null],
    ["2h", { turn: 3 }],
    ["330m", null],
    ["331m", null],
    ["329m", { turn: 0 }],
    ["90m", { turn: 3 }],
    ["89m", { turn: 4 }],
    ["4:e4.1", { turn: 4, event: "e4.1" }],
    ["5:e4.1", { turn: 4 }],
    ["4", { turn: 4 }],
    ["-0", { turn: 4 }],
    ["-4", { turn: 0 }],
    ["-5", null],
    ["9d", null],
    ["last", null],
  ])("of --to %s is %j", (bound, position) => {
    expect(to(bound)).toEqual(position);
  });

  it("of `last` is where the furthest compaction ended", () => {
    expect(to("last", [compaction(0, 2)])).toEqual({ turn: 2 });
    expect(to("last", [compaction(0, 3, { to_event: "e3.1" })])).toEqual({ turn: 3, event: "e3.1" });
    expect(to("last", [compaction(0, 3, { to_event: "e3.2" })])).toEqual({ turn: 3, event: "e3.2" });
    expect(to("last", [compaction(0, 3, { to_event: "e3.3" })])).toEqual({ turn: 3 });
  });
});

describe("furthestCompactedEnd", () => {
  it("leaves out compactions that cover nothing", () => {
    expect(furthestCompactedEnd(facts([compaction(4, 1), compaction(9, 12)]))).toBeNull();
    expect(furthestCompactedEnd(facts([compaction(5, 5)]))).toBeNull();
    expect(furthestCompactedEnd(facts([]))).toBeNull();
    expect(furthestCompactedEnd(facts([compaction(4, 4)]))).toEqual({ turn: 4 });
    expect(furthestCompactedEnd(facts([compaction(4, 1), compaction(0, 2)]))).toEqual({ turn: 2 });
  });

  it("takes the cut that lies latest in the furthest turn, in whatever order, and the whole turn before any cut", () => {
    const cut = (event: string): Compaction => compaction(0, 3, { to_event: event });
    for (const cuts of [
      ["e3.1", "e3.2"],
      ["e3.2", "e3.1"],
    ])
      expect(furthestCompactedEnd(facts(cuts.map(cut)))).toEqual({ turn: 3, event: "e3.2" });
    expect(furthestCompactedEnd(facts([cut("e3.1"), compaction(0, 3), cut("e3.2")]))).toEqual({ turn: 3 });
    expect(furthestCompactedEnd(facts([compaction(0, 2), cut("e3.1"), compaction(0, 1)]))).toEqual({
      turn: 3,
      event: "e3.1",
    });
  });

  it("takes no notice of the end event of what reaches past the newest turn", () => {
    expect(furthestCompactedEnd(facts([compaction(0, 5, { to_event: "e4.1" })]))).toEqual({ turn: 4 });
    expect(furthestCompactedEnd(facts([compaction(0, 4, { to_event: "e4.1" })]))).toEqual({ turn: 4, event: "e4.1" });
  });

  it("takes one of several cuts in a turn that was not read", () => {
    const compactions = [compaction(0, 3, { to_event: "e3.1" }), compaction(0, 3, { to_event: "e3.2" })];
    expect(furthestCompactedEnd({ ...facts(compactions), turns: new Map() })).toEqual({ turn: 3, event: "e3.1" });
    expect(resolveFrom({ type: "last" }, { ...facts(compactions), turns: new Map() })).toEqual({ turn: 3 });
  });

  it("counts a cut after the turn's last event as the whole turn", () => {
    expect(furthestCompactedEnd(facts([compaction(0, 3, { to_event: "gone" })]))).toEqual({ turn: 3 });
  });

  it("counts a cut in a turn that was not read as a cut", () => {
    const unread = { ...facts([compaction(0, 3, { to_event: "e3.3" })]), turns: new Map() };
    expect(furthestCompactedEnd(unread)).toEqual({ turn: 3, event: "e3.3" });
  });
});
