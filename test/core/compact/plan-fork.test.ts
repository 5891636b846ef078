// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ForkRequest, forkNeedsTurnTimes, planFork } from "../../../src/core/compact/fork.ts";
import type { BoundFacts } from "../../../src/core/conversation/bound-resolution.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { type ProjectedTurn, traitsOf, type View } from "../../../src/core/conversation/event.ts";
import { clampCompaction } from "../../../src/core/conversation/group.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { parseBound } from "../../../src/core/conversation/range-bound.ts";
import { replacesTurns } from "../../../src/core/conversation/range-location.ts";
import { makeCompaction } from "../../helpers/make-compaction.ts";
import { idsAcrossTurns, randomConversation } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";

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

/** Nothing reaches past the fork. */
const none = { clamped: [], leftOut: [] };

describe("planFork", () => {
  it("of the whole conversation starts at the tip and writes nothing", () => {
    expect(planFork({}, facts)).toEqual({
      atTurn: null,
      compactions: ["a", "cc"],
      ...none,
      turns: { total: 10, shown: 10 },
    });
    expect(planFork({ first: 10 }, facts).atTurn).toBeNull();
    expect(planFork({ until: parseBound("9") }, facts).atTurn).toBeNull();
    expect(planFork({ last: 10 }, facts)).not.toHaveProperty("omit");
    expect(planFork({ from: parseBound("0") }, facts)).not.toHaveProperty("omit");
  });

  it("of the first turns starts there with the compactions that lie wholly within", () => {
    expect(planFork({ first: 5 }, facts)).toMatchObject({
      atTurn: 4,
      compactions: ["a"],
      turns: { total: 5, shown: 5 },
    });
    expect(planFork({ until: parseBound("7") }, facts)).toMatchObject({ atTurn: 7, compactions: ["a", "cc"] });
    expect(planFork({ until: parseBound("-8") }, facts)).toMatchObject({ atTurn: 1, compactions: [] });
    expect(planFork({ until: parseBound("330m") }, facts)).toMatchObject({ atTurn: 4 });
  });

  it("of the last turns starts at the tip and omits the others", () => {
    const omit = { type: "compaction", from_turn: 0, to_turn: 6, turns: "omit", basis: ["a", "cc"], source: "manual" };
    expect(planFork({ last: 3 }, facts)).toEqual({
      atTurn: null,
      compactions: ["a", "cc"],
      ...none,
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
      ...none,
      turns: { total: 0, shown: 0 },
    });
  });

  it("of an empty conversation is the tip whatever is asked for", () => {
    const empty = { ...facts, turnCount: 0, turnTimes: [], compactions: [] };
    const tip = { atTurn: null, compactions: [], ...none, turns: { total: 0, shown: 0 } };
    for (const request of [{ first: 2 }, { last: 2 }, { from: parseBound("5") }, { until: parseBound("-1") }]) {
      expect(planFork(request, empty)).toEqual(tip);
    }
  });

  it("may hold a single turn, the first as well as the newest", () => {
    expect(planFork({ first: 1 }, facts)).toMatchObject({ atTurn: 0, compactions: [], turns: { total: 1, shown: 1 } });
    expect(planFork({ last: 1 }, facts)).toMatchObject({ omit: { to_turn: 8 }, turns: { total: 10, shown: 1 } });
    expect(planFork({ from: parseBound("4"), until: parseBound("4") }, facts)).toMatchObject({
      atTurn: 4,
      compactions: ["a"],
      omit: { type: "compaction", from_turn: 0, to_turn: 3, turns: "omit", basis: ["a", "cc-4"], source: "manual" },
      turns: { total: 5, shown: 1 },
    });
  });

  it("at the tip keeps a compaction whose range reaches past the newest turn", () => {
    const long = { ...facts, compactions: [compaction("a", 3, 99)] };
    expect(planFork({}, long).compactions).toEqual(["a"]);
    expect(planFork({ until: parseBound("9") }, long)).toMatchObject({ atTurn: null, compactions: ["a"] });
    expect(planFork({ until: parseBound("8") }, long)).toMatchObject({
      atTurn: 8,
      compactions: [],
      clamped: [{ id: "a" }],
    });
  });

  it("of the first turns clamps what is mechanical and reaches past them, and leaves summaries of later turns out", () => {
    const text = { summary: { summary: "in short" }, reasoning: "strip" as const };
    const compactions = [
      { ...compaction("omission", 2, 7), reasoning: undefined, turns: "omit" as const } as unknown as Compaction,
      { ...compaction("summ", 1, 8), ...text },
      { ...compaction("rep", 4, 9), replacement: [] },
      compaction("later", 5, 9),
      { ...compaction("within", 0, 4), ...text },
      compaction("cc", 4, 9),
    ];
    expect(planFork({ first: 5 }, { ...facts, compactions })).toEqual({
      atTurn: 4,
      compactions: ["within"],
      clamped: [compactions[5], compactions[0]],
      leftOut: ["rep", "summ"],
      turns: { total: 5, shown: 5 },
    });
  });

  it("of the first turns shows of them what the whole shows, whatever mechanical compactions cover them", () => {
    fc.assert(
      fc.property(randomConversation, fc.integer({ min: 1, max: 6 }), ({ turns, compactions }, first) => {
        const live = compactions.filter((each) => !replacesTurns(each));
        const plan = planFork(
          { first: Math.max(1, Math.min(first, turns.length)) },
          { ...facts, turnCount: turns.length, compactions: live },
        );
        const kept = turns.slice(0, plan.turns.total);
        const bound = { turn: kept.length - 1, event: kept.at(-1)?.events.at(-1)?.id ?? "" };
        const there = [
          ...live.filter(({ id }) => plan.compactions.includes(id)),
          ...plan.clamped.map((each) => clampCompaction(each, bound)),
        ];
        const ofFirst = ({ origin }: ProjectedTurn): boolean => origin.kind === "kept" && origin.turn <= bound.turn;
        // A call may be hidden with its result in a later turn, and so may the rest of a turn of which nothing else is sent.
        const apart = idsAcrossTurns(turns);
        const shown = (view: View) =>
          view.turns
            .filter(ofFirst)
            .flatMap(({ events }) => events.filter((event) => traitsOf(event).providerVisible && !apart.has(event.id)));
        expect(shown(projectTurns(kept, there))).toEqual(shown(projectTurns(turns, live)));
      }),
      { numRuns: runs(500) },
    );
  });

  it.each<[ForkRequest, number | null, string]>([
    [
      { until: { type: "last" } },
      null,
      "no compaction is in force yet, and the fork is to end where the last one does",
    ],
    [{ from: { type: "last" } }, 9, "nothing comes after the last compaction"],
    [{ from: { type: "last" }, until: { type: "last" } }, 2, "it begins after the last compaction, with which it ends"],
  ])("of %j says why no turn is left", (request, to, why) => {
    const compactions = to === null ? [] : [makeCompaction("c", [0, to], { reasoning: "strip" })];
    expect(() => planFork(request, { ...facts, compactions })).toThrow(`No turn is left for the fork: ${why}.`);
  });

  it("keeps a compaction that ends with the fork", () => {
    expect(planFork({ first: 4 }, facts).compactions).toEqual(["a"]);
    expect(planFork({ first: 3 }, facts).compactions).toEqual([]);
  });

  it("names no basis for what it leaves out where no compaction is live", () => {
    expect(planFork({ last: 3 }, { ...facts, compactions: [] }).omit).toEqual({
      type: "compaction",
      from_turn: 0,
      to_turn: 6,
      turns: "omit",
      source: "manual",
    });
  });

  const NONE_LEFT = "No turn is left for the fork: the conversation has turns 0..9.";
  const SEE_TURNS = "`jpg print` shows the turns and their times.";
  const has = (what: string): string => `${what}: the conversation has 10 turns, 0..9.`;
  const more = (what: string, ending = ""): string =>
    has(`${what} asks for more turns than the fork could have${ending}`);
  const inside = (flag: string): string => `${flag} 3:e3 lies inside a turn: a fork begins and ends with whole turns.`;

  it.each([
    [
      { first: 2, until: parseBound("3") },
      "contradictory_flags",
      "--first and --until both say where the fork ends: expected one of them.",
      "Leave --first or --until out.",
    ],
    [
      { last: 2, from: parseBound("3") },
      "contradictory_flags",
      "--last and --from both say where the fork begins: expected one of them.",
      "Leave --last or --from out.",
    ],
    [{ first: 0 }, "bad_count", "--first 0: expected a number of turns, 1 or more.", "For example: --first 5"],
    [{ last: 1.5 }, "bad_count", "--last 1.5: expected a number of turns, 1 or more.", "For example: --last 5"],
    [{ until: parseBound("3:e3") }, "bad_bound", inside("--until"), "For example: --until 3"],
    [{ from: parseBound("3:e3") }, "bad_bound", inside("--from"), "For example: --from 3"],
    [{ from: parseBound("10") }, "range_out_of_bounds", NONE_LEFT, SEE_TURNS],
    [{ from: parseBound("1s") }, "range_out_of_bounds", NONE_LEFT, SEE_TURNS],
    [{ until: parseBound("-10") }, "range_out_of_bounds", NONE_LEFT, SEE_TURNS],
    [{ from: parseBound("5"), until: parseBound("4") }, "range_out_of_bounds", NONE_LEFT, SEE_TURNS],
    [{ until: parseBound("10") }, "range_out_of_bounds", has("--until 10 names a turn that is not there"), SEE_TURNS],
    [{ until: parseBound("999") }, "range_out_of_bounds", has("--until 999 names a turn that is not there"), SEE_TURNS],
    [{ from: parseBound("-10") }, "range_out_of_bounds", has("--from -10 names a turn that is not there"), SEE_TURNS],
    [{ first: 11 }, "range_out_of_bounds", more("--first 11"), SEE_TURNS],
    [{ last: 999 }, "range_out_of_bounds", more("--last 999"), SEE_TURNS],
    [{ first: 4, last: 5 }, "range_out_of_bounds", more("--last 5", " up to turn 3, where it ends"), SEE_TURNS],
  ])("refuses %j with %s", (request, code, message, hint) => {
    expect(() => planFork(request, facts)).toThrowError(
      expect.objectContaining({ code, kind: "user", message, hints: [hint] }),
    );
  });

  it("takes a time before the first turn or after the last as an end of the conversation", () => {
    expect(planFork({ until: parseBound("1m") }, facts)).toMatchObject({ atTurn: null, turns: { shown: 10 } });
    expect(planFork({ from: parseBound("3d") }, facts)).toMatchObject({ turns: { shown: 10 } });
    expect(planFork({ from: parseBound("-9"), until: parseBound("-9") }, facts).turns).toEqual({ total: 1, shown: 1 });
  });

  it("needs the times of turns only for times ago", () => {
    expect(forkNeedsTurnTimes({ until: parseBound("3h") })).toBe(true);
    expect(forkNeedsTurnTimes({ from: parseBound("3h") })).toBe(true);
    expect(forkNeedsTurnTimes({ from: parseBound("3") })).toBe(false);
    expect(forkNeedsTurnTimes({ until: parseBound("3") })).toBe(false);
    expect(forkNeedsTurnTimes({})).toBe(false);
  });
});
