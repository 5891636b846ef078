// @module-tag law
// Which later calls are worth asking a program about.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { listCandidates, MAX_CANDIDATES } from "../../../src/core/compact/shown-lines.ts";
import { createCalls } from "../../helpers/tool-calls.ts";

// covers: 036 "Subsumption may be O(n²) per tool"

/** Ids of the candidates of each call, in the order of the calls. */
function candidates(...args: unknown[]): readonly (readonly string[])[] {
  const calls = createCalls(args.map((one) => ({ name: "look", args: one })));
  const found = listCandidates(calls);
  return calls.map((call) => (found.get(call) ?? []).map(({ request }) => request.id));
}

describe("listCandidates", () => {
  it("lists later calls that share a text, wherever it stands, the nearest first", () => {
    expect(candidates({ a: "x", n: 1 }, { b: ["y", { c: "x" }] }, { a: "z" }, { d: "x" })).toEqual([
      ["c1", "c3"],
      ["c3"],
      [],
      [],
    ]);
  });

  it("lists a call once that shares several texts, and none for numbers and empty texts", () => {
    expect(candidates({ a: "x", b: "y" }, { a: "x", b: "y" })).toEqual([["c1"], []]);
    expect(candidates({ a: 1, b: "" }, { a: 1, b: "" }, null)).toEqual([[], [], []]);
  });

  it("looks at no more than the last 32 texts of a call", () => {
    const texts = Array.from({ length: 33 }, (_, at) => `t${at}`);
    expect(candidates(texts, "t0", "t1")).toEqual([["c2"], [], []]);
  });

  it("lists the nearest of all that share a text", () => {
    const text = fc.constantFrom("a", "b", "c", "d");
    fc.assert(
      fc.property(fc.array(fc.uniqueArray(text), { maxLength: 40 }), (texts) => {
        const shares = (a: number, b: number) => texts[a]?.some((one) => texts[b]?.includes(one)) === true;
        const byDefinition = texts.map((_, at) =>
          texts.flatMap((_other, later) => (later > at && shares(at, later) ? [`c${later}`] : [])),
        );
        expect(candidates(...texts)).toEqual(byDefinition.map((ids) => ids.slice(0, MAX_CANDIDATES)));
      }),
    );
  });
});
