import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { displayWidth, fitWidth } from "../../../src/cli/frame/display-width.ts";

describe("displayWidth", () => {
  it.each([
    ["plain", 5],
    ["größe", 5],
    ["日本語", 6],
    ["🎉", 2],
    ["👩‍💻", 2],
    ["🇩🇪", 2],
    ["e\u0301", 1],
    ["", 0],
    ["→ …", 3],
  ])("of %s is %i", (text, columns) => {
    expect(displayWidth(text)).toBe(columns);
  });
});

describe("fitWidth", () => {
  it("never takes more columns than it may", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 20 }), fc.integer({ min: 1, max: 12 }), (text, columns) => {
        expect(displayWidth(fitWidth(text, columns))).toBeLessThanOrEqual(columns);
      }),
    );
  });

  it("says that something was cut off", () => {
    expect(fitWidth("conversation", 8)).toBe("convers…");
    expect(fitWidth("日本語の会話", 6)).toBe("日本…");
  });
});
