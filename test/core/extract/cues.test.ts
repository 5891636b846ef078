import { describe, expect, it } from "vitest";
import { isAnnouncement, isRejecting, isYesOrNo, weightOf } from "../../../src/core/compact/passages.ts";

describe("weightOf", () => {
  it.each([
    ["a plain sentence", "The parser has a stack.", 1],
    ["trouble", "The build is broken again.", 1.5],
    ["a reason", "It stops there because of a typo.", 1.5],
    ["an announcement", "Let me fix the parser.", 0],
    ["what is done at the moment", "Now the test file as well.", 0],
    ["a heading of a list", "These are the files:", 0],
    ["a row of a table", "| because | the |", 0],
    ["a rule", "--- because", 0],
    ["code", "return because;", 0],
    ["a comment in code", "// because of this", 0],
  ])("weighs %s: %j", (_, sentence, weight) => {
    expect(weightOf(sentence)).toBe(weight);
  });
});

describe("isAnnouncement", () => {
  it.each(["Let me look.", "Now let me look.", "Great! I'll run it.", "Voy a probarlo.", "让我看看"])(
    "is %j",
    (text) => {
      expect(isAnnouncement(text)).toBe(true);
    },
  );

  it.each(["I should note that it is slow.", "It lets me look.", "Letters are read."])("is not %j", (text) => {
    expect(isAnnouncement(text)).toBe(false);
  });
});

describe("isYesOrNo and isRejecting", () => {
  it("know the beginning of a reply", () => {
    expect(["yes!", "ok", "oui, merci", "はい", "No."].map(isYesOrNo)).toEqual([true, true, true, true, true]);
    expect(["yesterday", "okra", "note this"].map(isYesOrNo)).toEqual([false, false, false]);
    expect(["no, not so", "Stop", "не так"].map(isRejecting)).toEqual([true, true, true]);
    expect(["now go on", "nice", "note"].map(isRejecting)).toEqual([false, false, false]);
  });
});
