// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { indexText } from "../../../src/core/compact/words.ts";
import { anyText } from "../../helpers/any-text.ts";

describe("indexText", () => {
  it("finds what a search finds, in texts of few letters too", () => {
    const few = fc.string({ unit: fc.constantFrom("a", "b", " "), maxLength: 400 });
    const any = anyText({ maxLength: 200 });
    fc.assert(
      fc.property(
        fc.oneof(few, any),
        fc.nat(),
        fc.nat({ max: 30 }),
        fc.oneof(few, any),
        (text, start, length, other) => {
          const holds = indexText(text);
          const from = text.length === 0 ? 0 : start % text.length;
          const piece = text.slice(from, from + length);
          for (const wanted of [piece, `${piece}a`, `b${piece}`, other, other.slice(0, 5), ""])
            expect(holds(wanted)).toBe(text.includes(wanted));
        },
      ),
    );
  });

  it("finds a text that occurs once although its characters are everywhere", () => {
    const holds = indexText(`${"abcd".repeat(500)}abce`);
    expect(holds("dabce")).toBe(true);
    expect(holds("abcdabcd")).toBe(true);
    expect(holds("abcdabcc")).toBe(false);
  });
});
