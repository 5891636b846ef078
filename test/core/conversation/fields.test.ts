import { expect, it } from "vitest";
import { fieldsOf, isFields } from "../../../src/core/conversation/event.ts";

it.each<[unknown, boolean]>([
  [{}, true],
  [{ a: 1 }, true],
  [[], false],
  [null, false],
  [undefined, false],
  ["a", false],
  [() => 1, false],
])("tells whether %j has fields: %s", (value, expected) => {
  expect(isFields(value)).toBe(expected);
});

it("gives the fields of an object, and none of anything else", () => {
  const value = { a: 1 };
  expect(fieldsOf(value)).toBe(value);
  expect(fieldsOf(null)).toEqual({});
  expect(fieldsOf("text")).toEqual({});
  expect(fieldsOf(undefined)).toEqual({});
  expect(fieldsOf([1])["a"]).toBeUndefined();
});
