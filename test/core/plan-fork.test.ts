import { describe, expect, it } from "vitest";
import type { BoundFacts } from "../../src/core/bound-position.ts";
import type { Compaction } from "../../src/core/compaction.ts";
import { forkNeedsTurnTimes, planFork } from "../../src/core/plan-fork.ts";
import { parseBound } from "../../src/core/range-bound.ts";

function compaction(id: string, from_turn: number, to_turn: number): Compaction {
  return {
    type: "compaction",
    id,
    timestamp: `2026-02-0${id.length}T00:00:00Z`,
    from_turn,
    to_turn,
    reasoning: "strip",
  };
}

const facts: BoundFacts = {
  turnCount: 10,
  turnTimes: Array.from({ length: 10 }, (_, turn) => `2026-01-01T0${turn}:00:00Z`),
  compactions: [compaction("cc", 2, 7), compaction("a", 0, 3)],
  turns: new Map(),
  now: "2026-01-01T10:00:00Z",
};

describe("planFork", () => {
  it("of the whole conversation starts at the tip and writes nothing", () => {
    expect(planFork({}, facts)).toEqual({ atTurn: null, compactions: ["a", "cc"], turns: { total: 10, shown: 10 } });
    expect(planFork({ first: 12 }, facts).atTurn).toBeNull();
    expect(planFork({ last: 10 }, facts)).not.toHaveProperty("omit");
    expect(planFork({ from: parseBound("0") }, facts)).not.toHaveProperty("omit");
  });

  it("of the first turns starts there with the compactions that lie wholly within", () => {
    expect(planFork({ first: 5 }, facts)).toEqual({ atTurn: 4, compactions: ["a"], turns: { total: 5, shown: 5 } });
    expect(planFork({ until: parseBound("7") }, facts)).toMatchObject({ atTurn: 7, compactions: ["a", "cc"] });
    expect(planFork({ until: parseBound("-8") }, facts)).toMatchObject({ atTurn: 1, compactions: [] });
    expect(planFork({ until: parseBound("330m") }, facts)).toMatchObject({ atTurn: 4 });
  });

  it("of the last turns starts at the tip and omits the others", () => {
    const omit = { type: "compaction", from_turn: 0, to_turn: 6, turns: "omit", basis: ["a", "cc"], source: "manual" };
    expect(planFork({ last: 3 }, facts)).toEqual({
      atTurn: null,
      compactions: ["a", "cc"],
      omit,
      turns: { total: 10, shown: 3 },
    });
    expect(planFork({ from: parseBound("7") }, facts).omit).toEqual(omit);
    expect(planFork({ from: parseBound("3h") }, facts).omit).toEqual(omit);
  });

  it("of a middle part does both", () => {
    expect(planFork({ from: parseBound("2"), until: parseBound("4") }, facts)).toMatchObject({
      atTurn: 4,
      omit: { from_turn: 0, to_turn: 1 },
      turns: { total: 5, shown: 3 },
    });
    expect(planFork({ first: 6, last: 2 }, facts)).toMatchObject({ atTurn: 5, omit: { from_turn: 0, to_turn: 3 } });
  });

  it("of an empty conversation is the tip", () => {
    expect(planFork({}, { ...facts, turnCount: 0, compactions: [] })).toEqual({
      atTurn: null,
      compactions: [],
      turns: { total: 0, shown: 0 },
    });
  });

  it.each([
    [{ first: 2, until: parseBound("3") }, "contradictory_flags"],
    [{ last: 2, from: parseBound("3") }, "contradictory_flags"],
    [{ first: 0 }, "bad_count"],
    [{ last: 1.5 }, "bad_count"],
    [{ until: parseBound("3:e3") }, "bad_bound"],
    [{ from: parseBound("3:e3") }, "bad_bound"],
    [{ from: parseBound("10") }, "range_out_of_bounds"],
    [{ until: parseBound("-10") }, "range_out_of_bounds"],
    [{ from: parseBound("5"), until: parseBound("4") }, "range_out_of_bounds"],
  ])("refuses %j with %s", (request, code) => {
    expect(() => planFork(request, facts)).toThrowError(expect.objectContaining({ code, kind: "user" }));
  });

  it("needs the times of turns only for times ago", () => {
    expect(forkNeedsTurnTimes({ until: parseBound("3h") })).toBe(true);
    expect(forkNeedsTurnTimes({ from: parseBound("3") })).toBe(false);
  });
});
