// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  cleanBlock,
  cutBlock,
  cutBlockEnd,
  cutEnd,
  cutMiddle,
  indented,
  oneLine,
  spokenLine,
} from "../../../src/core/compact/passages.ts";

const line = fc
  .array(fc.constantFrom("word", "a", "longer-word-here", "😀", "x".repeat(60)), { maxLength: 40 })
  .map((list) => list.join(" "));

const a = (count: number): string => "a".repeat(count);
const b = (count: number): string => "b".repeat(count);

describe("cutEnd", () => {
  it.each([
    ["one two three four", 13, "one two …"],
    ["one two", 7, "one two"],
    ["one two", 6, ""],
    ["one two three", 9, ""],
    ["abcdefgh ij klm", 10, "abcdefgh …"],
    ["abcdefghi j klm", 10, "abcdefgh …"],
    [` ${a(50)}`, 20, ` ${a(17)} …`],
  ])("cuts %j between words after %i characters and says so", (text, limit, cut) => {
    expect(cutEnd(text, limit)).toBe(cut);
  });

  it("goes back over a word of 40 characters, and cuts a longer one", () => {
    const text = `${a(10)} ${b(100)}`;
    expect(cutEnd(text, 52)).toBe(`${a(10)} …`);
    expect(cutEnd(text, 53)).toBe(`${a(10)} ${b(40)} …`);
    expect(cutEnd(a(100), 50)).toBe(`${a(48)} …`);
  });

  it.each([
    ["a first half", "\ud800\udc00", 1],
    ["a last first half", "\udbff\udfff", 1],
    ["a letter before the first halves", "\ud7ffa", 0],
    ["a letter behind all halves", "\uffeea", 0],
    ["a second half", "\ud800\udc00", 0],
  ])("leaves no half of a character at the cut: %s", (_, pair, shift) => {
    const before = a(18 - 2 + shift);
    const cut = cutEnd(`${before}${pair}${b(30)}`, 20);
    const whole = shift === 1 ? before : `${before}${pair}`;
    expect(cut).toBe(`${whole} …`);
  });

  it("never returns more than the limit, and only the start of the text", () => {
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
  const numbered = Array.from({ length: 40 }, (_, n) => `w${n + 10}`);

  it("keeps two thirds before what is cut", () => {
    const text = numbered.join(" ");
    // 63 characters before, 34 after, from word to word.
    expect(cutMiddle(text, 100)).toBe(`${numbered.slice(0, 16).join(" ")} … ${numbered.slice(-8).join(" ")}`);
    expect(cutMiddle("short", 5)).toBe("short");
    expect(cutMiddle(text, text.length)).toBe(text);
  });

  it("keeps the start alone where fewer than 30 characters would stay of the end", () => {
    const text = numbered.join(" ");
    expect(cutMiddle(text, 88)).toBe(`${numbered.slice(0, 14).join(" ")} … ${numbered.slice(-7).join(" ")}`);
    expect(cutMiddle(text, 87)).toBe(cutEnd(text, 87));
  });

  it.each([
    ["at a blank", `${a(300)} ${b(99)}`, b(99)],
    ["behind a word of 40 characters", `${a(340)} ${b(59)}`, b(59)],
    ["inside a word of more", `${a(341)} ${b(58)}`, `${a(41)} ${b(58)}`],
    ["inside a word that is all there is", a(400), a(100)],
    ["behind a half character", `${a(299)}😀${b(99)}`, b(99)],
  ])("begins the end %s", (_, text, end) => {
    expect(cutMiddle(text, 300)).toBe(`${a(197)} … ${end}`);
  });

  it("never returns more than the limit, and both ends unchanged", () => {
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
  it("make one line without control characters and half characters", () => {
    expect(oneLine(" a\n\tb\u0000\u001fc\u007f\u009fd\u00a0 \ud800e😀 ")).toBe("a b c d e😀");
  });

  it("leave the middle of a very long text out", () => {
    expect(oneLine(a(16_000))).toBe(a(16_000));
    expect(oneLine(`${a(8000)}-${b(8000)}`)).toBe(`${a(8000)} … ${b(8000)}`);
  });

  it("leave long code out of what was said", () => {
    const code = "```ts\nconst x = 1;\n```";
    expect(spokenLine(`See:\n${code}\nDone.`)).toBe("See: ```ts const x = 1; ``` Done.");
    const fenced = (length: number): string => `\`\`\`\n${a(length - 8)}\n\`\`\``;
    expect(spokenLine(`See:${fenced(200)}Done.`)).toBe(`See:\`\`\` ${a(192)} \`\`\`Done.`);
    expect(spokenLine(`See:${fenced(201)}and${fenced(300)}Done.`)).toBe("See: … and … Done.");
    expect(spokenLine(`See:\`\`\`text\n${a(100)}\n${b(100)}\`\`\`Done.`)).toBe("See: … Done.");
  });
});

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

  it("never return more than the limit, and both ends unchanged", () => {
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
