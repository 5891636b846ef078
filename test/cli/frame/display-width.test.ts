// @module-tag law
import fc from "fast-check";
import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import { displayWidth, fitMiddle, fitWidth } from "../../../src/cli/frame/terminal.ts";
import { forTerminal, safe } from "../../../src/core/safe-text.ts";
import { runs } from "../../helpers/runs.ts";

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
    ["1️⃣", 2],
    ["❤ ©", 3],
    ["नि", 2],
    ["ｶﾞ", 2],
  ])("of %s is %i", (text, columns) => {
    expect(displayWidth(text)).toBe(columns);
    expect(stringWidth(text)).toBe(columns);
  });

  it("of every character is what string-width gives", { tags: ["slow"] }, () => {
    const passedOver = /\p{Cc}|\p{Cs}|\p{Co}|\p{Cn}/u;
    const other: string[] = [];
    for (let code = 0; code < 0x110000; code++) {
      const text = String.fromCodePoint(code);
      if (!passedOver.test(text) && displayWidth(text) !== stringWidth(text)) other.push(code.toString(16));
    }
    expect(other).toEqual([]);
  });

  it("of random clusters is what string-width gives", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect([text, displayWidth(text)]).toEqual([text, stringWidth(text)]);
      }),
      { numRuns: runs(1000) },
    );
  });
});

describe("fitWidth", () => {
  it("never takes more columns than it may", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 20 }), fc.integer({ min: 1, max: 12 }), (text, columns) => {
        expect(displayWidth(fitWidth(forTerminal(text), columns))).toBeLessThanOrEqual(columns);
      }),
    );
  });

  it("says that something was cut off", () => {
    expect(fitWidth(safe`conversation`, 8)).toBe("convers…");
    expect(fitWidth(safe`日本語の会話`, 6)).toBe("日本…");
  });
});

describe("fitMiddle", () => {
  it("never takes more columns than it may, and leaves alone what fits", () => {
    const columns = fc.integer({ min: 2, max: 30 });
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 40 }), columns, (text, most) => {
        const shown = forTerminal(text);
        const fitted = fitMiddle(shown, most);
        expect(displayWidth(fitted)).toBeLessThanOrEqual(most);
        if (displayWidth(shown) <= most) expect(fitted).toBe(shown);
      }),
    );
  });

  it("keeps the name of a file", () => {
    expect(fitMiddle(safe`Read /home/ada/work/harbour/lib/pier.ts`, 24)).toBe("Read /home/…/lib/pier.ts");
  });
});
