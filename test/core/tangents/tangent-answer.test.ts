import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTangentAnswer } from "../../../src/core/tangents/tangent-answer.ts";

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
      "turn 9 was named, but is none that may be left out",
      "turn 12 was named, but is none that may be left out",
      'not understood: {"turn":-1}',
      'not understood: {"turn":1.5}',
      'not understood: "soon"',
    ]);
  });

  it("gives nothing where there is no list", () => {
    for (const text of ["", "There are none.", '{"answer": 5}', "{", '{"tangents": 5}', "null", "see [1]"])
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
