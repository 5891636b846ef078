import { describe, expect, it } from "vitest";
import { indexSummary, listQuotes, normalBlanks, quotedParts } from "../../../src/core/compact/grounding.ts";
import type { FactKind } from "../../../src/core/conversation/compaction.ts";

describe("listQuotes", () => {
  it("finds what is between marks within a line, in order", () => {
    const text = 'He said "first words" and “second words”.\nThen `third "inner" words`, "fourth words"';
    expect(listQuotes(text)).toEqual(["first words", "second words", 'third "inner" words', "fourth words"]);
  });

  it.each([
    ["fewer than 8 characters", '"1234567"', []],
    ["8 characters", '"12345678"', ["12345678"]],
    ["8 characters with blanks at the ends", '" 123456 "', []],
    ["blanks at the ends of 8 characters", '" 12345678 "', [" 12345678 "]],
    ["1000 characters", `"${"a".repeat(1000)}"`, ["a".repeat(1000)]],
    ["more than 1000 characters", `"${"a".repeat(1001)}"`, []],
  ])("minds the length: %s", (_, text, quotes) => {
    expect(listQuotes(text)).toEqual(quotes);
  });

  it.each([
    ["a mark that nothing closes", '"12345678', []],
    ["a mark that is closed on the next line only", '"12345678\n12345678"', []],
    ["another kind of mark behind one that nothing closes", "“open `12345678`", ["12345678"]],
    ["a closing mark alone", "12345678” and “12345678”", ["12345678"]],
    ["a mark right behind another quotation", '"12345678""abcdefgh"', ["12345678", "abcdefgh"]],
    ["what stands between two quotations", '"12345678" between them "abcdefgh"', ["12345678", "abcdefgh"]],
  ])("pairs the marks: %s", (_, text, quotes) => {
    expect(listQuotes(text)).toEqual(quotes);
  });
});

describe("quotedParts", () => {
  it.each([
    ["one part", ["one part"]],
    ["a cut…quotation […] of ... three", ["a cut", "quotation", "three"]],
    ["part, end.;:!?", ["part, end"]],
    [" [sic] words [here] ", ["sic] words [here"]],
    ["[[ both ]] …  [the] rest.  ", ["both", "the] rest"]],
    ["(see below).", ["(see below)"]],
    ["; first", ["; first"]],
    ["abc…ab…a…", ["abc"]],
    ["say “it’s ‘so’”\n\t now", [`say "it's 'so'" now`]],
  ])("of %j are what must be found", (quote, parts) => {
    expect(quotedParts(quote)).toEqual(parts);
  });
});

describe("normalBlanks", () => {
  it("makes runs of white space one blank and typographic marks plain", () => {
    expect(normalBlanks("a \n\t b\u00a0“c” ‘d’ e…")).toBe(`a b "c" 'd' e…`);
  });
});

describe("indexSummary", () => {
  const holds = indexSummary(
    "Ran npm test in src/a.ts by the Makefile: Error: no rule. Fix it. See #12, pin-1, someName",
  );

  it.each<[FactKind, string, boolean]>([
    ["files", "src/a.ts", true],
    ["files", "a.ts", false],
    ["files", "Makefile", true],
    ["files", "Justfile", false],
    ["commands", "npm test → failed", true],
    ["commands", "npm test", true],
    ["commands", "npm run → ok", false],
    ["errors", "Error: no rule", true],
    ["errors", "Error: no file", false],
    ["requests", "Fix it.", true],
    ["requests", "Fix that.", false],
    ["pins", "pin-1", true],
    ["pins", "pin-2", false],
    ["issues", "#12", true],
    ["issues", "#1", false],
    ["identifiers", "someName", true],
    ["identifiers", "Name", false],
  ])("looks for %s: %s", (kind, text, isHeld) => {
    expect(holds(kind, text)).toBe(isHeld);
  });

  it("holds nothing without a summary", () => {
    expect(indexSummary(undefined)("files", "src/a.ts")).toBe(false);
  });
});
