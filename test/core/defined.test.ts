// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defined } from "../../src/core/json.ts";
import { runs } from "../helpers/runs.ts";

describe("defined", () => {
  it("leaves out what has no value, and nothing else", () => {
    const some: { readonly a?: number; readonly b: null; readonly c?: string } = { b: null };
    expect(Object.entries(defined({ a: some.a, b: some.b, c: some.c, d: 0, e: "", f: false }))).toEqual([
      ["b", null],
      ["d", 0],
      ["e", ""],
      ["f", false],
    ]);
  });

  it("keeps the order of fields, and makes JSON of the same text", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), fc.option(fc.jsonValue(), { nil: undefined })),
        (fields) => {
          const found = defined(fields);
          expect(JSON.stringify(found)).toBe(JSON.stringify(fields));
          expect(Object.values(found)).not.toContain(undefined);
        },
      ),
      { numRuns: runs(200) },
    );
  });
});
