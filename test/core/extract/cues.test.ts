import { describe, expect, it } from "vitest";
import { weightOf } from "../../../src/core/extract/cues.ts";

describe("weightOf", () => {
  it.each([
    ["a plain sentence", "The parser has a stack.", 1],
    ["a decision", "We decided on a stack.", 1.6],
    ["trouble", "The build is broken again.", 1.4],
    ["a decision about trouble", "It fails because of a typo.", 1.6],
    ["an announcement", "Let me look at the parser.", 0],
    ["a heading of a list", "These are the files:", 0],
    ["an announced decision", "Let me keep a stack because of the order.", 0.8],
    ["an announced repair", "Let me fix the parser.", 0.7],
    ["a decision before a list", "We decided on these:", 0.8],
    ["a row of a table", "| because | the |", 0],
    ["a rule", "--- because", 0],
    ["code", "return because;", 0],
    ["a comment in code", "// because of this", 0],
  ])("weighs %s: %j", (_, sentence, weight) => {
    expect(weightOf(sentence)).toBe(weight);
  });
});
