// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type BoundFacts,
  freezeBounds,
  isNothing,
  needsTurnTimes,
  type RangeRequest,
  resolveBounds,
} from "../../../src/core/conversation/bound-resolution.ts";
import { parseBound, type RangeBound } from "../../../src/core/conversation/range-bound.ts";
import { makeCompaction } from "../../helpers/make-compaction.ts";
import { parseConversation } from "../../helpers/notation.ts";

function factsOf(notation: string): BoundFacts {
  const turns = parseConversation(notation);
  return {
    turnCount: turns.length,
    turnTimes: turns.map(({ events }) => events[0]?.timestamp ?? ""),
    compactions: [],
    turns: new Map(turns.map((turn) => [turn.index, turn])),
    now: "2026-01-01T12:00:00Z",
  };
}

const ten = factsOf(Array.from({ length: 10 }, () => "U A").join(" | "));
const bounds = (from: string | null, to: string | null): RangeRequest => ({
  ...(from === null ? {} : { from: parseBound(from) }),
  ...(to === null ? {} : { to: parseBound(to) }),
});

describe("resolveBounds", () => {
  it("covers all but the last three turns by default", () => {
    expect(resolveBounds({}, ten)).toEqual({ from: 0, to: 6 });
  });

  it.each<[string, RangeRequest, object]>([
    ["configured keep_last", { keepLast: 5 }, { from: 0, to: 4 }],
    ["--keep over keep_last", { keepLast: 5, keep: 1 }, { from: 0, to: 8 }],
    ["--keep 0 as everything", { keep: 0 }, { from: 0, to: 9 }],
    ["--to over keep_last", { keepLast: 5, ...bounds(null, "9") }, { from: 0, to: 9 }],
    ["one turn", bounds("9", "9"), { from: 9, to: 9 }],
    ["all but what is kept", { keep: 9 }, { from: 0, to: 0 }],
    ["the last turn before what is kept", { ...bounds("6", null), keep: 3 }, { from: 6, to: 6 }],
    ["both bounds", bounds("2", "-4"), { from: 2, to: 5 }],
    ["events as they are written", bounds("1:e1", "3:e3"), { from: 1, fromEvent: "e1", to: 3, toEvent: "e3" }],
  ])("takes %s", (_name, request, range) => {
    expect(resolveBounds(request, ten)).toEqual(range);
  });

  it.each<[string, RangeRequest, string]>([
    ["begins past the end", bounds("10", null), "the range begins after the last turn (9)"],
    ["is inverted", bounds("5", "2"), "the range begins with turn 5 but ends with turn 2"],
    ["ends before the start", bounds(null, "-30"), "the range ends before the first turn"],
    ["keeps everything", { keep: 10 }, "the newest 10 turns are kept and there are 10"],
    ["begins after now", { from: { type: "ago", ms: 0 } }, "the range begins after the last turn (9)"],
    [
      "begins with what is kept",
      { ...bounds("7", null), keep: 3 },
      "the range begins with turn 7 but ends with turn 6",
    ],
  ])("says nothing is there when the range %s", (_name, request, reason) => {
    expect(resolveBounds(request, ten)).toEqual({ nothing: reason });
  });

  it.each<[string, RangeRequest, readonly [number, string?] | null, string]>([
    [
      "no compaction",
      bounds(null, "last"),
      null,
      "no compaction is in force yet, and the range is to end where the last one does",
    ],
    [
      "no compaction",
      bounds("3", "last"),
      null,
      "no compaction is in force yet, and the range is to end where the last one does",
    ],
    [
      "no compaction",
      bounds("last", "last"),
      null,
      "no compaction is in force yet, and the range is to end where the last one does",
    ],
    [
      "one over all",
      bounds("last", null),
      [9],
      "the last compaction reaches the last turn (9), so nothing comes after it",
    ],
    [
      "one past the end",
      bounds("last", "3"),
      [99],
      "the last compaction reaches the last turn (9), so nothing comes after it",
    ],
    ["one", bounds("last", "last"), [4], "the range begins after the last compaction, with which it ends"],
    [
      "one that ends in a turn",
      bounds("last", "last"),
      [4, "e4.1"],
      "the range begins after the last compaction, with which it ends",
    ],
    ["one", bounds("last", "2"), [4], "the range begins with turn 5, after the last compaction, but ends with turn 2"],
    ["one", bounds("7", "last"), [4], "the range begins with turn 7 but ends with turn 4, as the last compaction does"],
  ])("says of %s, where a bound is last, why nothing is there", (_name, request, end, reason) => {
    const [to = 0, to_event] = end ?? [];
    const one = makeCompaction("c", [0, to], { reasoning: "strip", ...(to_event === undefined ? {} : { to_event }) });
    expect(resolveBounds(request, { ...ten, compactions: end === null ? [] : [one] })).toMatchObject({
      nothing: reason,
    });
  });

  it("says nothing is there in an empty conversation", () => {
    expect(resolveBounds({}, factsOf(""))).toEqual({ nothing: "the conversation has no turns" });
  });

  it("refuses --to with --keep", () => {
    expect(() => resolveBounds({ ...bounds(null, "3"), keep: 2 }, ten)).toThrowError(
      expect.objectContaining({
        code: "contradictory_flags",
        kind: "user",
        message: "--to and --keep both say where the range ends: expected one of them.",
        hints: ["Use --keep N to leave the last N turns alone, or --to BOUND to end at a position."],
      }),
    );
  });

  it.each([-1, 1.5, Number.NaN])("refuses to keep %d turns", (keep) => {
    expect(() => resolveBounds({ keep }, ten)).toThrowError(
      expect.objectContaining({
        kind: "user",
        code: "bad_keep",
        message: `--keep ${keep} is not possible: expected a whole number, 0 or more.`,
      }),
    );
  });

  it("leaves the newest protected messages alone in whole turns", () => {
    expect(resolveBounds({ protectedMessages: 9 }, ten)).toEqual({ from: 0, to: 4 });
    expect(resolveBounds({ protectedMessages: 99 }, ten)).toEqual({
      nothing: "the newest 10 turns are kept and there are 10",
    });
  });

  it("always stays inside the conversation", () => {
    const bound = fc.oneof<fc.Arbitrary<RangeBound>[]>(
      fc.record({ type: fc.constant("turn" as const), turn: fc.nat(15) }),
      fc.record({ type: fc.constant("before_last" as const), turns: fc.nat(15) }),
      fc.record({ type: fc.constant("ago" as const), ms: fc.nat(50_000_000) }),
      fc.constant({ type: "last" as const }),
    );
    fc.assert(
      fc.property(fc.option(bound), fc.option(bound), fc.nat(12), (from, to, keepLast) => {
        const range = resolveBounds({ ...(from && { from }), ...(to && { to }), keepLast }, ten);
        if (isNothing(range)) return;
        expect(range.from).toBeGreaterThanOrEqual(0);
        expect(range.from).toBeLessThanOrEqual(range.to);
        expect(range.to).toBeLessThan(10);
      }),
    );
  });
});

describe("a conversation of no more than keep_last turns", () => {
  const loop = (calls: number): string => `U ${"R T t ".repeat(calls)}A`;

  it("ends before the newest 20 tool calls", () => {
    // Call n (from 0) of the turn is event e0.(2 + 3n + 1); 5 of 25 calls are covered.
    expect(resolveBounds({}, factsOf(loop(25)))).toEqual({ from: 0, to: 0, toEvent: "e0.17" });
  });

  it("counts calls across turns", () => {
    expect(resolveBounds({}, factsOf(`${loop(8)} | ${loop(15)}`))).toEqual({ from: 0, to: 0, toEvent: "e0.11" });
    expect(resolveBounds({}, factsOf(`${loop(8)} | U ${"T t ".repeat(20)}A`))).toEqual({
      from: 0,
      to: 1,
      toEvent: "e1.1",
    });
  });

  it("has nothing to compact when there are no more calls than that", () => {
    expect(resolveBounds({}, factsOf(loop(19)))).toEqual({
      nothing: "the conversation has no more than 3 turns and 20 tool calls",
      hints: [expect.stringContaining("`jpg compact --keep 0`")],
    });
    expect(resolveBounds({ keepLast: 2 }, factsOf(`${loop(9)} | ${loop(9)}`))).toEqual({
      nothing: "the conversation has no more than 2 turns and 20 tool calls",
      hints: [expect.stringContaining("`jpg compact --keep 0`")],
    });
  });

  it("covers the calls before the newest 20 and nothing of them, at the edges", () => {
    expect(resolveBounds({}, factsOf(loop(21)))).toEqual({ from: 0, to: 0, toEvent: "e0.5" });
    expect(resolveBounds({}, factsOf(`U A | ${"T t ".repeat(20)}A`))).toMatchObject({ to: 1 });
    expect(resolveBounds({ keepLast: 1 }, factsOf(loop(21)))).toEqual({ from: 0, to: 0, toEvent: "e0.5" });
    expect(resolveBounds({ keepLast: 1 }, factsOf(`U A | ${loop(21)}`))).toEqual({ from: 0, to: 0 });
  });

  it("leaves the calls out of it where the end is given", () => {
    expect(resolveBounds({ keep: 1 }, factsOf(loop(25)))).toEqual({
      nothing: "the newest turn is kept and there is 1",
    });
    expect(resolveBounds(bounds(null, "0"), factsOf(loop(25)))).toEqual({ from: 0, to: 0 });
  });

  it("still begins where --from says", () => {
    expect(resolveBounds(bounds("1", null), factsOf(`U A | ${loop(25)}`))).toEqual({
      from: 1,
      to: 1,
      toEvent: "e1.17",
    });
  });
});

describe("what resolving needs", () => {
  it("is the times of turns only for times ago", () => {
    expect(needsTurnTimes(bounds("5h", null))).toBe(true);
    expect(needsTurnTimes(bounds(null, "5h"))).toBe(true);
    expect(needsTurnTimes(bounds("2", "-3"))).toBe(false);
    expect(needsTurnTimes({})).toBe(false);
  });
});

describe("the newest turns that are protected", () => {
  it("hold the protected messages: notes and calls are none", () => {
    const facts = factsOf("U A | U A | U A | U A | U A | U N T t N A | N | U A");
    expect(resolveBounds({ protectedMessages: 3, keepLast: 0 }, facts)).toEqual({ from: 0, to: 4 });
    expect(resolveBounds({ protectedMessages: 2, keepLast: 0 }, facts)).toEqual({ from: 0, to: 6 });
    expect(resolveBounds({ protectedMessages: 2, keepLast: 4 }, facts)).toEqual({ from: 0, to: 3 });
    expect(resolveBounds({ protectedMessages: 4, keep: 1 }, facts)).toEqual({ from: 0, to: 6 });
  });
});

describe("a range that leaves the newest tokens alone", () => {
  const facts = factsOf("U A | U T t T t T t A | U A");
  const end = (protectTokens: number, rest: RangeRequest = {}) =>
    resolveBounds({ protectTokens, keepLast: 0, ...rest }, facts);

  it("ends before them, never between a call and its result", () => {
    const ends = Array.from({ length: 200 }, (_, tokens) => end(tokens + 1)).map((range) =>
      isNothing(range) ? "nothing" : `${range.to}:${range.toEvent ?? ""}`,
    );
    expect([...new Set(ends)]).toEqual([
      "2:e2.1",
      "1:",
      "1:e1.7",
      "1:e1.5",
      "1:e1.3",
      "1:e1.1",
      "0:",
      "0:e0.1",
      "nothing",
    ]);
  });

  it("ends before the turns that are left alone, too", () => {
    expect(end(10, { keepLast: 1 })).toEqual({ from: 0, to: 1, toEvent: "e1.5" });
    expect(end(1, { keepLast: 1 })).toEqual({ from: 0, to: 1 });
    expect(end(10, { keepLast: 2 })).toEqual({ from: 0, to: 0 });
    expect(end(1, { protectedMessages: 1 })).toEqual({ from: 0, to: 1 });
    expect(end(10, { keep: 2 })).toEqual({ from: 0, to: 0 });
    expect(end(10, { to: parseBound("1:e1.3") })).toEqual({ from: 0, to: 1, toEvent: "e1.3" });
    expect(end(10, { to: parseBound("1") })).toEqual({ from: 0, to: 1, toEvent: "e1.5" });
  });

  it("is empty when everything is among them", () => {
    expect(end(100_000)).toEqual({
      nothing: "the newest 100000 tokens are left alone, and there is nothing before them",
    });
  });
});

describe("whether something came out empty", () => {
  it("is recognised by its reason", () => {
    expect(isNothing({ nothing: "no turns" })).toBe(true);
    expect(isNothing({ from: 0, to: 1 })).toBe(false);
  });
});

describe("where a range may end before what is left alone", () => {
  it("is the turn before if nothing that a model is sent precedes it", () => {
    const facts = factsOf("U A | N U A | U A");
    const ends = (protectTokens: number) => resolveBounds({ protectTokens, keepLast: 0 }, facts);
    expect(ends(1)).toEqual({ from: 0, to: 2, toEvent: "e2.1" });
    expect(ends(4)).toEqual({ from: 0, to: 1 });
    expect(ends(5)).toEqual({ from: 0, to: 1, toEvent: "e1.2" });
    expect(ends(7)).toEqual({ from: 0, to: 0 });
  });

  it("is before a call whose message began before it", () => {
    const [turn] = parseConversation(`U A ${"T t ".repeat(21)}A`);
    const events = turn!.events.map((event, at) =>
      at === 2 || at === 5 ? { ...event, metadata: { message_id: "m" } } : event,
    );
    const facts = { ...factsOf("U"), turns: new Map([[0, { index: 0, events }]]) };
    expect(resolveBounds({}, facts)).toEqual({ from: 0, to: 0, toEvent: "e0.1" });
    const two = { ...facts, turnCount: 2, turns: new Map([[1, { index: 1, events: events.slice(2) }]]) };
    expect(resolveBounds({}, two)).toEqual({ from: 0, to: 0 });
  });
});

describe("bounds that are fixed", () => {
  const reaching = (to_turn: number) => ({
    type: "compaction" as const,
    id: `c${to_turn}`,
    timestamp: "2026-01-01T11:00:00Z",
    from_turn: 0,
    to_turn,
  });

  it("mean the same turns when a compaction was added", () => {
    const range = freezeBounds({ from: { type: "last" } }, { ...ten, compactions: [reaching(3)] });
    expect(range).toEqual({ from: { type: "turn", turn: 4 } });
    expect(resolveBounds(range, { ...ten, compactions: [reaching(6)] })).toEqual({ from: 4, to: 6 });
    expect(freezeBounds(bounds("-3", "2:e2"), ten)).toEqual(bounds("6", "2:e2"));
    expect(freezeBounds({}, ten)).toEqual({});
  });
});
