// @module-tag law
// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { indexText, normalText } from "../../../src/core/compact/words.ts";
import { anyText } from "../../helpers/any-text.ts";

/** Texts with what spelling decides: marks, blanks, digits with commas, letters that fold, characters that combine. */
const spelt = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "ﬁ",
        "Ａ",
        "İ",
        "Σ",
        "e\u0301",
        "\u0301",
        "½",
        "…",
        "“",
        "’",
        "—",
        "`",
        "**",
        " ",
        "\n",
        "\u00a0",
        "1,234",
        "K",
        "😀",
        "\ud83d",
      ),
      anyText({ maxLength: 3 }),
    ),
    { maxLength: 30 },
  )
  .map((pieces) => pieces.join(""));

describe("normalText", () => {
  it("sets spelling aside, and nothing else", () => {
    const plain = "the limit is 12345 bytes, 'so' - \"ok\" (a, b, 1,23) fi cafe\u0301".normalize("NFKC");
    expect(normalText("The **limit**\r\n is 12,345\u00a0`bytes`, ‘so’ — “OK” (a, b, 1,23) ﬁ cafe\u0301")).toBe(plain);
    expect(normalText("1,234,567 and 1,2345 and ,123")).toBe("1234567 and 1,2345 and ,123");
    expect(normalText("colour")).not.toBe(normalText("color"));
  });

  it("changes nothing in what is normal already", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9.;:!'"-]*( [a-z0-9.;:!'"-]+)*$/), (text) => {
        expect(normalText(text)).toBe(text);
      }),
    );
  });

  it("gives the same with places and without; a place is where its character comes from", () => {
    fc.assert(
      fc.property(spelt, spelt, (before, after) => {
        const text = `${before} zebra ${after}`;
        const places: number[] = [];
        const normal = normalText(text, places);
        expect(normal).toBe(normalText(text));
        expect(places).toHaveLength(normal.length);
        const from = normal.lastIndexOf("zebra");
        expect(text.slice(places[from], places[from + 5])).toBe("zebra");
      }),
    );
  });
});

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

  it("finds a text that stands only where its characters stand everywhere", () => {
    const holds = indexText(`${"abcd".repeat(500)}abce`);
    expect(holds("dabce")).toBe(true);
    expect(holds("abcdabcd")).toBe(true);
    expect(holds("abcdabcc")).toBe(false);
  });
});
