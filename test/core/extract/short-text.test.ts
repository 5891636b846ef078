import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutEnd, cutMiddle, oneLine, spokenLine } from "../../../src/core/extract/short-text.ts";

const line = fc
  .array(fc.constantFrom("word", "a", "longer-word-here", "😀", "x".repeat(60)), { maxLength: 40 })
  .map((list) => list.join(" "));

describe("cutEnd", () => {
  it("cuts between words and says so", () => {
    expect(cutEnd("one two three four", 13)).toBe("one two …");
    expect(cutEnd("one two", 7)).toBe("one two");
    expect(cutEnd("one two three", 9)).toBe("");
  });

  it("cuts a word that is longer than any", () => {
    expect(cutEnd("x".repeat(100), 50)).toBe(`${"x".repeat(48)} …`);
  });

  it("never gives more than the limit, and only what stood at the start", () => {
    fc.assert(
      fc.property(line, fc.integer({ min: 0, max: 300 }), (text, limit) => {
        const cut = cutEnd(text, limit);
        expect(cut.length).toBeLessThanOrEqual(limit);
        expect(text.startsWith(cut.replace(/ …$/, ""))).toBe(true);
        expect(cut).not.toMatch(/\p{Surrogate}/u);
      }),
    );
  });
});

describe("cutMiddle", () => {
  it("keeps two thirds before what is cut", () => {
    const text = Array.from({ length: 40 }, (_, n) => `w${n + 10}`).join(" ");
    const [start = "", end = ""] = cutMiddle(text, 100).split(" … ");
    expect(start.length).toBeGreaterThan(55);
    expect(end.length).toBeGreaterThan(25);
    expect(cutMiddle(text, 100).endsWith("w48 w49")).toBe(true);
    expect(cutMiddle("short", 5)).toBe("short");
  });

  it("never gives more than the limit, and both ends as they stood", () => {
    fc.assert(
      fc.property(line, fc.integer({ min: 0, max: 300 }), (text, limit) => {
        const cut = cutMiddle(text, limit);
        expect(cut.length).toBeLessThanOrEqual(limit);
        const [start = "", end = ""] = cut.split(" … ");
        expect(text.startsWith(start.replace(/ …$/, ""))).toBe(true);
        expect(text.endsWith(end)).toBe(true);
        expect(cut).not.toMatch(/\p{Surrogate}/u);
      }),
    );
  });
});

describe("oneLine and spokenLine", () => {
  it("make one line without control characters", () => {
    expect(oneLine(" a\n\tb\u0000c\u009f ")).toBe("a b c");
  });

  it("leave long code out of what was said", () => {
    const code = "```ts\nconst x = 1;\n```";
    expect(spokenLine(`See:\n${code}\nDone.`)).toBe("See: ```ts const x = 1; ``` Done.");
    expect(spokenLine(`See:\n\`\`\`ts\n${"x".repeat(300)}\n\`\`\`\nDone.`)).toBe("See: … Done.");
  });
});
