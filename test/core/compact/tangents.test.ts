// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTangentAnswer, planOmissions } from "../../../src/core/compact/tangents.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { joinRuns, type Turn } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { makeCompaction, STRIP_TOOLS, summaryOf } from "../../helpers/make-compaction.ts";
import { parseConversation, printView } from "../../helpers/notation.ts";
import { dateCompaction, idsAcrossTurns, randomCompaction, randomTurns } from "../../helpers/random-conversation.ts";

const upTo = (last: number) => (turn: number) => turn <= last;
const turnsIn = (text: string): readonly number[] | undefined =>
  parseTangentAnswer(text, upTo(9))?.tangents.map(({ turn }) => turn);

describe("parseTangentAnswer", () => {
  it("reads positions with reasons, in order and each once", () => {
    const text =
      '{"tangents":[{"turn":5,"reason":"a joke"},{"turn":2,"reason":"the\\nweather"},{"turn":5,"reason":"x"}]}';
    expect(parseTangentAnswer(text, upTo(9))).toEqual({
      tangents: [
        { turn: 2, reason: "the weather" },
        { turn: 5, reason: "a joke" },
      ],
      problems: [],
    });
  });

  it("finds the list in whatever a model wraps it in", () => {
    expect(turnsIn('Here you are:\n```json\n{"tangents": [{"turn": 3, "reason": "r"}]}\n```\nAnything else?')).toEqual([
      3,
    ]);
    expect(turnsIn('<think>turn {4}?</think>[{"turn_index": "4", "why": "r"}]')).toEqual([4]);
    expect(turnsIn('I found {"turns": ["5-7", "turn 9"]}. Done.')).toEqual([5, 6, 7, 9]);
    expect(turnsIn("[1, 2]")).toEqual([1, 2]);
    expect(turnsIn('{"tangents": [{"turns": [1, "3-4"], "reason": "r"}]}')).toEqual([1, 3, 4]);
  });

  it.each<[string, readonly number[]]>([
    ['{"tangents": [1], "turns": [2]}', [1]],
    ['{"tangential_turns": [1]}', [1]],
    ['{"tangents": 5, "result": [2]}', [2]],
    ['{"turns": [3]}', [3]],
    ['[{"turn": 1}, {"turns": 2}, {"turn_index": 3}, {"index": 4}, {"position": 5}, {"id": 6}]', [1, 2, 3, 4, 5, 6]],
    ['[{"turn": 1, "id": 2}, {"id": 7, "position": 3}]', [1, 3]],
    ["```json\n[1]\n```\n```\n[2]\n```", [2]],
    ["```json\n[1]\n```\n```\nnothing\n```", [1]],
    ["```json  \n[1]```", [1]],
    ['so {"turns": [1]} and [{"turn": 2}]', [2]],
    ['so [ {"turn": 1},\n{"turn": 2} ] it is', [1, 2]],
    ['  <reasoning>[{"turn": 1}]</reasoning> so [{"turn": 2}]', [2]],
    ['<thinking>one\ntwo {"turns": [1]}</thinking>{"turns": [3]}', [3]],
    ['<think>{"turns": [1]}</think> <think>[</think>[{"turn": 4}]', [4]],
    ["[0, 9]", [0, 9]],
  ])("reads %j", (text, turns) => {
    expect(turnsIn(text)).toEqual(turns);
  });

  it.each<[string, readonly number[]]>([
    ["5", [5]],
    [" #5 ", [5]],
    ["turn 5", [5]],
    ["Turn5", [5]],
    ["turns  3 - 5", [3, 4, 5]],
    ["3–4", [3, 4]],
    ["3..4", [3, 4]],
    ["3 TO 4", [3, 4]],
    ["4-4", [4]],
    ["#3-4", [3, 4]],
    ["000000005", [5]],
  ])("reads a position or range written as %j", (text, turns) => {
    expect(parseTangentAnswer(JSON.stringify([text]), upTo(9))).toEqual({
      tangents: turns.map((turn) => ({ turn, reason: "" })),
      problems: [],
    });
  });

  it.each([
    ...[
      "",
      "turn",
      "5-",
      "-5",
      "4-3",
      "5 or so",
      "my turn 5",
      "5-6-7",
      "1.5",
      "0000000005",
      "0-1000",
      "turned 5",
      "5#",
    ],
    ...[null, true, [], {}, { turn: null }, [1, "soon"], [[1], []], -1, 0.5, 2 ** 53, { at: 1 }],
  ])("does not understand %j", (entry) => {
    expect(parseTangentAnswer(JSON.stringify([entry]), upTo(9))).toEqual({
      tangents: [],
      problems: [`not understood: ${JSON.stringify(entry)}`],
    });
  });

  it("reads a range of a thousand turns", () => {
    const answer = parseTangentAnswer('["1-1000"]', () => true);
    expect(answer?.tangents.map(({ turn }) => turn)).toEqual(Array.from({ length: 1000 }, (_, at) => at + 1));
  });

  it("takes the first reason that is a text, on one line and of three hundred characters at most", () => {
    const reasonOf = (entry: unknown) => parseTangentAnswer(JSON.stringify([entry]), upTo(9))?.tangents[0]?.reason;
    expect(reasonOf({ turn: 1, reason: 5, why: "a\nb", explanation: "c" })).toBe("a b");
    expect(reasonOf({ turn: 1, explanation: "c" })).toBe("c");
    expect(reasonOf({ turn: 1, reason: "r", why: "w" })).toBe("r");
    expect(reasonOf({ turn: 1 })).toBe("");
    expect(reasonOf({ turn: 1, reason: "x".repeat(300) })).toBe("x".repeat(300));
    expect(reasonOf({ turn: 1, reason: "x".repeat(301) })).toBe(`${"x".repeat(298)} …`);
  });

  it("says what it did not understand in eighty characters, and each thing once", () => {
    const answer = parseTangentAnswer(JSON.stringify(["y".repeat(90), "y".repeat(90), 9, 9]), upTo(8));
    expect(answer).toEqual({
      tangents: [],
      problems: [`not understood: "${"y".repeat(77)} …`, "turn 9 was named, but may not be left out"],
    });
  });

  it("knows that there need be no tangents", () => {
    expect(parseTangentAnswer('{"tangents": []}', upTo(9))).toEqual({ tangents: [], problems: [] });
  });

  it("lets no turn through that may not be left out, and says so", () => {
    const answer = parseTangentAnswer(
      '{"tangents":[{"turn":9,"reason":"r"},{"turn":12},{"turn":-1},{"turn":1.5},"soon"]}',
      upTo(8),
    );
    expect(answer?.tangents).toEqual([]);
    expect(answer?.problems).toEqual([
      "turn 9 was named, but may not be left out",
      "turn 12 was named, but may not be left out",
      'not understood: {"turn":-1}',
      'not understood: {"turn":1.5}',
      'not understood: "soon"',
    ]);
  });

  it("gives nothing where there is no list", () => {
    for (const text of [
      "",
      "There are none.",
      '{"answer": 5}',
      "{",
      '{"tangents": 5}',
      "null",
      "see [1]",
      '"[1]"',
      " ",
      "```json [1]```",
    ])
      expect(parseTangentAnswer(text, upTo(9))).toBeNull();
  });

  it("survives any text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const answer = parseTangentAnswer(text, upTo(3));
        for (const { turn } of answer?.tangents ?? []) expect([0, 1, 2, 3]).toContain(turn);
      }),
    );
  });
});

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
  it("makes one compaction of separate turns, and keeps what is between unchanged", () => {
    expect(plan([4, 1]).map(({ from, to }) => [from, to])).toEqual([[1, 4]]);
    expect(omit([1, 4])).toBe("U A | U A | U T t A | U A");
    expect(omit([0, 1, 2])).toBe("U T t A | U A | U A");
    expect(plan([0, 1, 2])[0]?.keep).toEqual([]);
  });

  it("begins another one where an older compaction shortens what is between", () => {
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

  it("keeps by name every event between, in order", () => {
    expect(plan([1, 4])).toEqual([
      { from: 1, to: 4, keep: [2, 3].flatMap((at) => turns[at]?.events.map(({ id }) => id) ?? []) },
    ]);
    expect(plan([])).toEqual([]);
  });

  it("begins another one where a turn between is not loaded", () => {
    const known = new Map([...byPosition(turns)].filter(([index]) => index !== 3));
    expect(planOmissions(runsOf([1, 4]), { turns: known, compactions: [] })).toEqual([
      { from: 1, to: 1, keep: [] },
      { from: 4, to: 4, keep: [] },
    ]);
  });

  it("considers only compactions of what is between", () => {
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
