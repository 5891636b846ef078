// @module-tag law
// One text for equal JSON values.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../src/core/json.ts";

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
