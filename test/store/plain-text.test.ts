import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { indented, oneLine } from "../../src/store/plain-text.ts";

const foreign = fc.string({ unit: "binary" });

describe("oneLine", () => {
  it("leaves one line without control characters, no longer than asked", () => {
    fc.assert(
      fc.property(foreign, fc.integer({ min: 1, max: 20 }), (text, limit) => {
        const line = oneLine(text, limit);
        expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
        expect([...line].length).toBeLessThanOrEqual(limit);
        expect(oneLine(line, limit)).toBe(line);
      }),
    );
  });

  it("takes direction marks and lone surrogates out", () => {
    expect(oneLine("a\u202eb\ud800c")).toBe("a b\ufffdc");
  });

  it("looks only at the start of a long text", () => {
    expect(oneLine("word ".repeat(2_000_000), 9)).toBe("word word");
  });
});

describe("indented", () => {
  it("begins every line that is not empty with four spaces", () => {
    fc.assert(
      fc.property(foreign, (text) => {
        for (const line of indented(text).split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/))
          expect(line).toMatch(/^( {4}\S?.*)?$/);
      }),
    );
  });

  it("keeps blank lines inside and indentation, and drops those at the ends", () => {
    expect(indented("\n\na\r\n\n  b\tc  \n\n")).toBe("    a\n\n      b  c");
    expect(indented("")).toBe("");
  });
});
