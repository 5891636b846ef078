// @module-tag law
// A command line as words, without a shell.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitCommandWords } from "../../../src/core/compact/shell-read.ts";

describe("splitCommandWords", () => {
  it.each([
    ["node check.mjs --fast", ["node", "check.mjs", "--fast"]],
    ["  a \t b\n", ["a", "b"]],
    ["'a b' \"c d\" e\\ f", ["a b", "c d", "e f"]],
    ["pre'fix 'post", ["prefix post"]],
    ['"say \\"x\\" \\\\ \\n"', ['say "x" \\ \\n']],
    ["'' \"\"", ["", ""]],
    ["$HOME ~ a|b >c `d`", ["$HOME", "~", "a|b", ">c", "`d`"]],
    ["", []],
  ])("splits %j", (line, words) => {
    expect(splitCommandWords(line)).toEqual(words);
  });

  it.each(["'open", '"open', "end\\", '"a\\"'])("gives null for %j", (line) => {
    expect(splitCommandWords(line)).toBeNull();
  });

  it("gives back any words that were quoted", () => {
    const quote = (word: string) => `"${word.replace(/["\\]/g, "\\$&")}"`;
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 5 }), (words) => {
        expect(splitCommandWords(words.map(quote).join(" "))).toEqual(words);
      }),
    );
  });
});
