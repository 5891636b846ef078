// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDiffBudget, diffWords, type WordRange } from "../../../src/app/diff/line-diff.ts";

const words = fc.array(fc.constantFrom("the ", "parser ", "fails", ".", "größe", "  ", "日本", "🎉"), {
  maxLength: 30,
});
const line = words.map((list) => list.join(""));

function without(text: string, ranges: readonly WordRange[]): string {
  return ranges.reduceRight((rest, [start, end]) => rest.slice(0, start) + rest.slice(end), text);
}

function marked(text: string, ranges: readonly WordRange[]): string[] {
  return ranges.map(([start, end]) => text.slice(start, end));
}

describe("diffWords", () => {
  it("marks the word that differs in each line", () => {
    const before = "  return parse(line, options);";
    const after = "  return parse(text, options);";
    const ranges = diffWords(before, after, createDiffBudget());
    expect(marked(before, ranges?.before ?? [])).toEqual(["line"]);
    expect(marked(after, ranges?.after ?? [])).toEqual(["text"]);
  });

  it("marks nothing in lines that have little in common", () => {
    expect(diffWords("Reads the whole file.", "[compacted] read: success", createDiffBudget())).toBeNull();
  });

  it("leaves the same text on both sides once the marked stretches are taken out", () => {
    fc.assert(
      fc.property(line, line, fc.constantFrom(0, 4, 1_000_000), (before, after, steps) => {
        const ranges = diffWords(before, after, createDiffBudget(steps));
        if (ranges === null) return;
        expect(without(before, ranges.before)).toBe(without(after, ranges.after));
      }),
    );
  });

  it("marks very long lines by their differing middle", () => {
    const before = `${"x".repeat(50_000)} old ${"y".repeat(50_000)}`;
    const after = `${"x".repeat(50_000)} new ${"y".repeat(50_000)}`;
    const ranges = diffWords(before, after, createDiffBudget());
    expect(ranges?.before).toHaveLength(1);
    expect(marked(before, ranges?.before ?? [])[0]).toContain("old");
  });
});
