import { describe, expect, it } from "vitest";
import { marksInForce, parseLabel } from "../../src/core/conversation/marks.ts";
import { JpgError } from "../../src/core/errors.ts";

describe("marks of a conversation", () => {
  it("are those of the latest record that has them", () => {
    expect(marksInForce([])).toEqual({ archived: false, labels: [] });
    const records = [{ archived: true }, { labels: ["a"] }, {}, { labels: ["c", "b", "c"] }];
    expect(marksInForce(records)).toEqual({ archived: true, labels: ["b", "c"] });
    expect(marksInForce([...records, { archived: false }, { labels: [] }])).toEqual({ archived: false, labels: [] });
  });

  it("of a damaged or foreign record do not count, and steer no terminal", () => {
    const damaged = [
      { archived: true, labels: ["x"] },
      { archived: "no", labels: "y" },
    ];
    expect(marksInForce(damaged)).toEqual({ archived: true, labels: ["x"] });
    expect(marksInForce([{ labels: [7, " ", "\u001b[31mred\n", "\u202eno"] }]).labels).toEqual(["no", "red"]);
    expect(marksInForce([{ labels: Array.from({ length: 99 }, (_, n) => `l${n}`) }]).labels).toHaveLength(50);
  });
});

describe("a label", () => {
  it("is one line of 1 to 50 characters without a comma", () => {
    expect(parseLabel("  to  review ")).toBe("to review");
    expect(parseLabel("Büro".normalize("NFD"))).toBe("Büro");
    for (const text of ["", " \n", "a,b", "x".repeat(51)]) expect(() => parseLabel(text)).toThrow(JpgError);
  });
});
