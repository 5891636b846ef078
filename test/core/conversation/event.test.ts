import { describe, expect, it } from "vitest";
import {
  describeTurns,
  type Event,
  formatTurnRange,
  joinRuns,
  rangeContains,
  rangesIntersect,
  splitTurns,
  traitsOf,
} from "../../../src/core/conversation/event.ts";

describe("turn ranges", () => {
  it("are named in a sentence, one turn and several", () => {
    expect([describeTurns(3, 3), describeTurns(3, 7)]).toEqual(["turn 3", "turns 3..7"]);
  });

  it.each([
    [{ from: 0, to: 12 }, "0..12"],
    [{ from: 3, fromEvent: "e3.1", to: 12, toEvent: "e12.4" }, "3:e3.1..12:e12.4"],
    [{ from: 0, to: 5, toEvent: "a1b2" }, "0..5:a1b2"],
    [{ from: 7, fromEvent: "x", to: 7 }, "7:x..7"],
  ])("of %j are written as %s", (range, text) => {
    expect(formatTurnRange(range)).toBe(text);
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

const timestamp = "2026-01-02T03:04:05Z";
const start = (id: string): Event => ({ type: "turn_start", id, timestamp });
const ask = (id: string): Event => ({ type: "chat_request", id, timestamp, content: id });
const note = (id: string): Event => ({ type: "note", id, timestamp, kind: "progress" });
const split = (...events: Event[]): string[][] =>
  splitTurns(events, (event) => traitsOf(event).providerVisible).map((turn) => turn.events.map((event) => event.id));

describe("splitTurns", () => {
  it("opens a turn at each turn_start", () => {
    expect(split(start("s0"), ask("a"), start("s1"), ask("b"))).toEqual([
      ["s0", "a"],
      ["s1", "b"],
    ]);
  });

  it("makes turn 0 of what a model is sent before the first turn_start", () => {
    expect(split(note("n"), ask("a"), start("s1"), ask("b"))).toEqual([
      ["n", "a"],
      ["s1", "b"],
    ]);
  });

  it("gives notes before the first turn_start to the first turn, after its start", () => {
    expect(split(note("n"), note("m"), start("s0"), ask("a"))).toEqual([["s0", "n", "m", "a"]]);
  });

  it("keeps a stream without any turn_start as one turn, and an empty one as none", () => {
    expect(split(note("n"))).toEqual([["n"]]);
    expect(split()).toEqual([]);
  });

  it("opens no turn at a second request inside a turn", () => {
    expect(split(start("s0"), ask("a"), ask("b"))).toEqual([["s0", "a", "b"]]);
  });
});
