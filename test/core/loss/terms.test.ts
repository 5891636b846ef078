import { describe, expect, it } from "vitest";
import { termsOf } from "../../../src/core/compact/words.ts";

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
