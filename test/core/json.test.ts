// @module-tag law
// @module-tag law
// One text for equal JSON values.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, defined } from "../../src/core/json.ts";
import { runs } from "../helpers/runs.ts";

describe("canonicalJson", () => {
  it("is JSON of the same value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("is the same for objects with the same fields in any order", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (fields) => {
        const turned = Object.fromEntries(Object.entries(fields).toReversed());
        expect(canonicalJson(turned)).toBe(canonicalJson(fields));
      }),
    );
  });

  it("is one text whatever the order of keys, at any depth, and another for another order of items", () => {
    expect(canonicalJson({ b: [{ y: 1, x: 2 }, null], a: "t" })).toBe('{"a":"t","b":[{"x":2,"y":1},null]}');
    expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
    expect(canonicalJson({ b: 1, a: 2 })).toBe('{"a":2,"b":1}');
    expect(canonicalJson({ a: true, b: { d: 1, c: 2 } })).toBe('{"a":true,"b":{"c":2,"d":1}}');
    expect(canonicalJson({})).toBe("{}");
    expect(canonicalJson([])).toBe("[]");
  });

  it("writes null for what JSON does not know", () => {
    expect(canonicalJson(undefined)).toBe("null");
    expect(canonicalJson([undefined, null])).toBe("[null,null]");
    expect(canonicalJson({ a: undefined })).toBe('{"a":null}');
  });
});

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
