// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planOmissions } from "../../../src/core/compact/tangents.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { joinRuns, type Turn } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { makeCompaction, STRIP_TOOLS, summaryOf } from "../../helpers/make-compaction.ts";
import { parseConversation, printView } from "../../helpers/notation.ts";
import { dateCompaction, idsAcrossTurns, randomCompaction, randomTurns } from "../../helpers/random-conversation.ts";

const turns = parseConversation("U A | U R T t A | U A | U T t A | U A | U A");
const byPosition = (list: readonly Turn[]): ReadonlyMap<number, Turn> =>
  new Map(list.map((turn) => [turn.index, turn]));
const runsOf = (positions: readonly number[]) => joinRuns(positions.map((turn) => ({ from: turn, to: turn })));
const plan = (positions: readonly number[], compactions: readonly Compaction[] = []) =>
  planOmissions(runsOf(positions), { turns: byPosition(turns), compactions });

function omit(positions: readonly number[], compactions: readonly Compaction[] = []): string {
  const made = plan(positions, compactions).map(({ from, to, keep }, at) =>
    makeCompaction(`o${at}`, [from, to], { turns: "omit", ...(keep.length === 0 ? {} : { keep }) }, 20 + at),
  );
  return printView(projectTurns(turns, [...compactions, ...made]));
}

describe("planOmissions", () => {
  it("makes one compaction of turns that lie apart, and keeps what stands between as it is", () => {
    expect(plan([4, 1]).map(({ from, to }) => [from, to])).toEqual([[1, 4]]);
    expect(omit([1, 4])).toBe("U A | U A | U T t A | U A");
    expect(omit([0, 1, 2])).toBe("U T t A | U A | U A");
    expect(plan([0, 1, 2])[0]?.keep).toEqual([]);
  });

  it("begins another one where an older compaction shortens what stands between", () => {
    const strip = makeCompaction("k", [0, 3], STRIP_TOOLS, 2);
    expect(plan([1, 4], [strip]).map(({ from, to }) => [from, to])).toEqual([
      [1, 1],
      [4, 4],
    ]);
    expect(omit([1, 4], [strip])).toBe("U A | U A | U T- t- A | U A");
    const summary = makeCompaction("s", [2, 2], summaryOf("s"), 2);
    expect(omit([1, 3, 5], [summary])).toBe("U A | <s> | U A");
    expect(plan([1, 3, 5], [summary])).toHaveLength(2);
  });

  it("begins another one where a record would keep too much by name", () => {
    const ranges = (...answers: readonly number[]) => {
      const gaps = answers.map((count) => `U ${"A ".repeat(count)}`);
      const long = parseConversation(["U A", ...gaps.flatMap((gap) => [gap, "U A"])].join(" | "));
      const runs = runsOf(gaps.map((_, at) => 2 * at).concat(2 * gaps.length));
      return planOmissions(runs, { turns: byPosition(long), compactions: [] }).map(({ from, to, keep }) => [
        from,
        to,
        keep.length,
      ]);
    };
    expect(ranges(1998)).toEqual([[0, 2, 2000]]);
    expect(ranges(1999)).toEqual([
      [0, 0, 0],
      [2, 2, 0],
    ]);
    expect(ranges(998, 998)).toEqual([[0, 4, 2000]]);
    expect(ranges(998, 999)).toEqual([
      [0, 2, 1000],
      [4, 4, 0],
    ]);
  });

  it("keeps by name every event that stands between, in order", () => {
    expect(plan([1, 4])).toEqual([
      { from: 1, to: 4, keep: [2, 3].flatMap((at) => turns[at]?.events.map(({ id }) => id) ?? []) },
    ]);
    expect(plan([])).toEqual([]);
  });

  it("begins another one where a turn between is not at hand", () => {
    const known = new Map([...byPosition(turns)].filter(([index]) => index !== 3));
    expect(planOmissions(runsOf([1, 4]), { turns: known, compactions: [] })).toEqual([
      { from: 1, to: 1, keep: [] },
      { from: 4, to: 4, keep: [] },
    ]);
  });

  it("minds compactions of what stands between only", () => {
    const apart = (from: number, to: number) => plan([1, 4], [makeCompaction("k", [from, to], STRIP_TOOLS)]).length;
    expect([apart(0, 1), apart(4, 5), apart(1, 2), apart(3, 4), apart(2, 3)]).toEqual([1, 1, 2, 2, 2]);
  });

  // A call that is answered in another turn is left out of the comparison: where one of the two is hidden, or kept, both are.
  it("hides the turns named and no other event, whatever was compacted before", () => {
    const stack = randomTurns.chain((list) =>
      fc.tuple(
        fc.constant(list),
        fc.array(randomCompaction(list, false), { maxLength: 3 }),
        fc.subarray(list.map(({ index }) => index)),
      ),
    );
    fc.assert(
      fc.property(stack, ([list, random, positions]) => {
        const before = random.map((compaction, at) => dateCompaction(compaction, `k${at}`, 0));
        const omissions = planOmissions(runsOf(positions), { turns: byPosition(list), compactions: before });
        const made = omissions.map(({ from, to, keep }, at) =>
          makeCompaction(`o${at}`, [from, to], { turns: "omit", ...(keep.length === 0 ? {} : { keep }) }, 20 + at),
        );
        const apart = idsAcrossTurns(list);
        const shown = (compactions: readonly Compaction[]) =>
          projectTurns(list, compactions).turns.flatMap(({ origin, events }) =>
            origin.kind === "kept" && !positions.includes(origin.turn)
              ? [
                  {
                    turn: origin.turn,
                    events: events.filter(({ type, id }) => type !== "turn_start" && !apart.has(id)),
                  },
                ]
              : [],
          );
        expect(shown([...before, ...made])).toEqual(shown(before));
        const left = projectTurns(list, [...before, ...made])
          .turns.filter(({ origin }) => origin.kind === "kept" && positions.includes(origin.turn))
          .flatMap(({ events }) => events.filter(({ type, id }) => type !== "turn_start" && !apart.has(id)));
        expect(left).toEqual([]);
      }),
    );
  });
});
