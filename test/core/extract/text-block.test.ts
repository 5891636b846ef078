// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleanBlock, cutBlock, cutBlockEnd, indented } from "../../../src/core/compact/passages.ts";

const CODE = "Do this:\n\n```ts\nconst a = 1;\nconst b = 2;\n```\n\nThen that.";

describe("cleanBlock", () => {
  it("keeps lines, indents and code, and takes control characters away", () => {
    expect(cleanBlock(CODE)).toBe(CODE);
    expect(cleanBlock(" \r\na\u0000b \u001b[31mred\u001b[0m\tc  \r\n\n\n\n  d\ud800 ")).toBe("a b red  c\n\n  d");
  });

  it("leaves the middle of a very long text out", () => {
    expect(cleanBlock(`${"a".repeat(8000)}x${"b".repeat(8000)}`)).toBe(`${"a".repeat(8000)}\n…\n${"b".repeat(8000)}`);
  });
});

describe("cutBlock and cutBlockEnd", () => {
  it("give back what fits", () => {
    expect(cutBlock(CODE, CODE.length)).toBe(CODE);
    expect(cutBlockEnd(CODE, CODE.length)).toBe(CODE);
  });

  it("cut between lines where one ends nearby, else between words", () => {
    const lines = Array.from({ length: 40 }, (_, n) => `line number ${n}`).join("\n");
    expect(cutBlockEnd(lines, 100)).toMatch(/^(?:line number \d+\n)+…$/);
    expect(cutBlock(lines, 200)).toMatch(/^(?:line number \d+\n)+…\n(?:line number \d+\n)*line number 39$/);
    expect(cutBlockEnd("word ".repeat(50).trim(), 60)).toMatch(/^(?:word )+word\n…$/);
  });

  it("close code that they cut", () => {
    const code = `${"before the code\n".repeat(3)}\`\`\`sh\n${"make everything\n".repeat(30)}\`\`\`\n${"behind the code\n".repeat(3)}`;
    for (let limit = 100; limit < code.length; limit += 7) {
      expect((cutBlock(code, limit).match(/^```/gm) ?? []).length % 2).toBe(0);
    }
  });

  it("never give more than the limit, and both ends as they stood", () => {
    const text = fc.array(fc.constantFrom("word", "\n", "a longer line of words", "```\n", "é😀"), { maxLength: 120 });
    fc.assert(
      fc.property(text, fc.integer({ min: 90, max: 400 }), (words, limit) => {
        const whole = cleanBlock(words.join(" "));
        const cut = cutBlock(whole, limit);
        expect(cut.length).toBeLessThanOrEqual(Math.max(limit, whole.length <= limit ? whole.length : 0));
        if (whole.length > limit)
          expect(
            whole.endsWith(
              cut
                .split("\n…\n")
                .at(-1)
                ?.replace(/^```\n/, "") ?? "",
            ),
          ).toBe(true);
      }),
    );
  });
});

describe("indented", () => {
  it("sets all lines but the first in, empty ones not", () => {
    expect(indented("a\n\nb\n  c")).toBe("a\n\n  b\n    c");
  });
});
