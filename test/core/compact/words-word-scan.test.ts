// How a text is cut into words.

import { describe, expect, it } from "vitest";
import { DIGIT, LOWER, OTHER, SLASH, scanWords, termsOf, UPPER } from "../../../src/core/compact/words.ts";

function words(text: string): readonly string[] {
  const found: string[] = [];
  scanWords(text, (start, end) => {
    found.push(text.slice(start, end));
    return end;
  });
  return found;
}

describe("scanWords", () => {
  it("cuts at blanks and punctuation, and keeps paths, versions and names whole", () => {
    expect(words("see src/a_b.ts:12, (v1.2-rc) “quoted” user@host!")).toEqual([
      "see",
      "src/a_b.ts:12",
      "v1.2-rc",
      "quoted",
      "user@host",
    ]);
    expect(words("")).toEqual([]);
    expect(words(" \n")).toEqual([]);
    expect(words("end")).toEqual(["end"]);
    expect(words("Grüße 世界")).toEqual(["Grüße", "世界"]);
  });

  it.each([
    ["1,234", ["1,234"]],
    ["12,345,678 left", ["12,345,678", "left"]],
    ["9,909,090", ["9,909,090"]],
    ["1,23", ["1", "23"]],
    ["1,2345", ["1", "2345"]],
    ["1,a23", ["1", "a23"]],
    ["1,2a3", ["1", "2a3"]],
    ["1,23a", ["1", "23a"]],
    ["1,234a", ["1,234a"]],
    ["a,234", ["a", "234"]],
    ["a,b", ["a", "b"]],
    ["1, 234", ["1", "234"]],
    ["1;234", ["1", "234"]],
    ["12,34:5", ["12", "34:5"]],
  ])("takes a comma into a word only between groups of three digits: %s", (text, expected) => {
    expect(words(text)).toEqual(expected);
  });

  it("reports the kinds of characters in a word, and continues where the visitor says", () => {
    const seen: (readonly [number, number, number])[] = [];
    scanWords("aB/9 skipped é", (start, end, traits) => {
      seen.push([start, end, traits]);
      return start === 0 ? 12 : end;
    });
    expect(seen).toEqual([
      [0, 4, LOWER | UPPER | SLASH | DIGIT],
      [13, 14, OTHER],
    ]);
  });
});

describe("termsOf", () => {
  it.each([
    ["Parser, PARSER and the other parsers", ["parser", "parser", "parsers"]],
    ["ab abc a_b 1abc x1 _key", ["abc", "a_b", "abc", "_key"]],
    ["Über die Straße", ["über", "die", "straße"]],
    ["the and of 12 345", []],
    ["", []],
  ])("gives the telling words of %j", (text, terms) => {
    expect(termsOf(text)).toEqual(terms);
  });

  it("stops at a limit, counting telling words alone", () => {
    expect(termsOf("alpha the beta gamma", 2)).toEqual(["alpha", "beta"]);
    expect(termsOf("alpha the beta gamma", 3)).toEqual(["alpha", "beta", "gamma"]);
    expect(termsOf("alpha", 0)).toEqual([]);
  });
});
