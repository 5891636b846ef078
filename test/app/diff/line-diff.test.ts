// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  commonEnds,
  createDiffBudget,
  diffLines,
  diffWords,
  type LineRun,
  type WordRange,
} from "../../../src/app/diff/line-diff.ts";

const lines = fc.array(fc.constantFrom("a", "b", "c", "", "  d", "e"), { maxLength: 40 });

function side(runs: readonly LineRun[], left: "removed" | "added"): string[] {
  return runs.filter((run) => run.kind === left || run.kind === "same").flatMap((run) => run.lines);
}

describe("diffLines", () => {
  it("restores both texts from its runs, whatever the budget", () => {
    fc.assert(
      fc.property(lines, lines, fc.constantFrom(0, 1, 9, 100, 1_000_000), (before, after, steps) => {
        const runs = diffLines(before, after, createDiffBudget(steps));
        expect(side(runs, "removed")).toEqual(before);
        expect(side(runs, "added")).toEqual(after);
      }),
    );
  });

  it("never gives an empty run, nor two of a kind in a row, nor added before removed", () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const runs = diffLines(before, after);
        runs.forEach((run, index) => {
          const next = runs[index + 1];
          expect(run.lines.length).toBeGreaterThan(0);
          expect(next?.kind).not.toBe(run.kind);
          expect(run.kind === "added" && next?.kind === "removed").toBe(false);
        });
      }),
    );
  });

  it("has only a same run for equal texts", () => {
    expect(diffLines(["a", "b"], ["a", "b"])).toEqual([{ kind: "same", lines: ["a", "b"] }]);
  });

  it("finds an inserted line", () => {
    expect(diffLines(["a", "b", "c"], ["a", "x", "b", "c"])).toEqual([
      { kind: "same", lines: ["a"] },
      { kind: "added", lines: ["x"] },
      { kind: "same", lines: ["b", "c"] },
    ]);
  });

  it("replaces as a whole what has only blank lines in common", () => {
    const runs = diffLines(["one", "", "two"], ["three", "", "four"]);
    expect(runs.map((run) => run.kind)).toEqual(["removed", "added"]);
  });

  it("replaces as a whole what needs more edits than the budget allows", () => {
    const before = Array.from({ length: 4000 }, (_, index) => (index % 2 === 0 ? "shared" : `old ${index}`));
    const after = Array.from({ length: 4000 }, (_, index) => (index % 2 === 0 ? "shared" : `new ${index}`));
    expect(diffLines(before, after).filter((run) => run.kind === "same")).toHaveLength(1);
  });

  it("keeps every line that occurs once in both texts and in the same order, however many edits there are", () => {
    const before = Array.from({ length: 4000 }, (_, index) => (index % 2 === 0 ? `shared ${index}` : `old ${index}`));
    const after = Array.from({ length: 4000 }, (_, index) => (index % 2 === 0 ? `shared ${index}` : `new ${index}`));
    expect(diffLines(before, after).filter((run) => run.kind === "same")).toHaveLength(2000);
  });
});

describe("commonEnds", () => {
  it("never counts an item for both ends", () => {
    expect(commonEnds(["a", "a"], ["a", "a", "a"])).toEqual({ head: 2, tail: 0 });
  });
});

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

  it("leaves the same text on both sides once the marked stretches are removed", () => {
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
