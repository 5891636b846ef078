// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createStartFinder } from "../../../src/core/secrets/first-characters.ts";
import { ISSUER_FORMS } from "../../../src/core/secrets/issuer-forms.ts";
import { anyText } from "../../helpers/any-text.ts";
import { runs } from "../../helpers/runs.ts";

const FORMS = ISSUER_FORMS.flatMap(({ id, forms }) => Object.keys(forms).map((form) => [id, form] as const));
const ANYWHERE = { tokens: Number.POSITIVE_INFINITY, mayBegin: () => true };
/** The first position alone; -1 = none. */
const createPositionFinder = (patterns: readonly string[]): ((text: string, from: number) => number) => {
  const next = createStartFinder(patterns, ANYWHERE);
  return (text, from) => next(text, from)?.at ?? -1;
};
const nextStart = createPositionFinder(FORMS.map(([, form]) => form));

/** Of a form the shortest texts that it fits. */
const shortest = (form: string): RegExp =>
  new RegExp(`^(?:${form.replace(/\{(\d+),\d*\}/g, "{$1}").replaceAll("\\s", " ")})$`);

describe("createStartFinder", () => {
  it.each(FORMS)("finds where %s may begin, whatever precedes it: %s", (_, form) => {
    const before = fc.string({ unit: "grapheme", maxLength: 6 });
    fc.assert(
      fc.property(before, fc.stringMatching(shortest(form)), (text, secret) => {
        expect(nextStart(text + secret, text.length)).toBe(text.length);
        const starts: number[] = [];
        for (let at = nextStart(text + secret, 0); at >= 0; at = nextStart(text + secret, at + 1)) starts.push(at);
        expect(starts).toContain(text.length);
      }),
      { numRuns: runs(20) },
    );
  });

  it("skips what begins otherwise", () => {
    expect(nextStart("none of them is here, äöü 12", 0)).toBe(-1);
    const only = createPositionFinder(["ab[cd]x"]);
    const texts = ["abcx", "abdx", "xabcx", "abcy", "abc", "abex", "ab", ""];
    expect(texts.map((text) => only(text, 0))).toEqual([0, 0, 1, -1, -1, -1, -1, -1]);
  });

  it("looks at eight characters, each as often as it must occur", () => {
    const only = createPositionFinder(["\\d{4,6}:", "key-[a-f]{2}x\\dyz", "pq+r"]);
    expect(["1234", "123:", "12345678", "a1234:"].map((text) => only(text, 0))).toEqual([0, -1, 0, 1]);
    expect(["key-abx1y", "key-abx1?", "key-abxx", "key-abcx", "pqz"].map((text) => only(text, 0))).toEqual([
      0, 0, -1, -1, 0,
    ]);
  });

  it("keeps more patterns than a number has bits apart well enough", () => {
    const many = createPositionFinder(Array.from({ length: 70 }, (_, index) => `k${index}=[a-z]`));
    expect(["k0=a", "k69=z", " k33=x"].map((text) => many(text, 0))).toEqual([0, 0, 1]);
    expect(many("k70=a k5=A kk=", 0)).toBe(-1);
  });

  it("goes forward in any text", () => {
    fc.assert(
      fc.property(anyText({ maxLength: 60 }), fc.nat(60), (text, from) => {
        const at = nextStart(text, from);
        if (at >= 0) expect(at).toBeGreaterThanOrEqual(from);
      }),
      { numRuns: runs(500), examples: [["\u56a3\uffff", 0]] },
    );
  });

  it("takes two characters for enough, and any third after them", () => {
    const only = createPositionFinder(["g[lm](?:pat|dt)"]);
    expect(["gl-", "gm!", "go-"].map((text) => only(text, 0))).toEqual([0, 0, -1]);
  });

  it.each(["a", "a*bc", "(?:ab|cd)e", "\\d+:", "\\d{1,9}:"])(
    "refuses a pattern that begins with less: %s",
    (pattern) => {
      expect(() => createStartFinder([pattern], ANYWHERE)).toThrow(/does not begin with/);
    },
  );

  it("skips tokens only, and only where none may begin", { tags: ["slow"] }, () => {
    const patterns = ["[a-z0-9]{3}", "[a-c]{4}", "ab", "[cC]a"];
    const starts = (tokens: number, text: string) => {
      const next = createStartFinder(patterns, { tokens, mayBegin });
      const found = [];
      for (let start = next(text, 0); start !== null; start = next(text, start.at + 1)) found.push(start);
      return found;
    };
    const mayBegin = (text: string, at: number): boolean => !/[a-z]/.test(text[at - 1] ?? "");
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."abcC1 ") }), (text) => {
        const all = starts(0, text);
        const some = starts(2, text);
        expect(all).toEqual(expect.arrayContaining(some));
        const needed = all.filter(({ at, patterns: found }) => mayBegin(text, at) || found.some((one) => one >= 2));
        expect(some).toEqual(expect.arrayContaining(needed));
      }),
      { numRuns: runs(300) },
    );
  });
});
