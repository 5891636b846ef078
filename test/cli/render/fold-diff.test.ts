// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HunkRun } from "../../../src/app/diff/diff-hunks.ts";
import { foldHunk } from "../../../src/cli/render/diff.ts";

const run = fc.record({
  kind: fc.constantFrom("same" as const, "removed" as const, "added" as const),
  event: fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h", "i"),
  lines: fc.array(fc.constantFrom("x", "y"), { minLength: 1, maxLength: 40 }),
});

describe("foldHunk", () => {
  it("hides changed lines only, and counts every one that it hides", () => {
    fc.assert(
      fc.property(fc.array(run, { maxLength: 20 }), (runs: readonly HunkRun[]) => {
        const lines = (kind: HunkRun["kind"]): number =>
          runs.filter((item) => item.kind === kind).reduce((sum, item) => sum + item.lines.length, 0);
        const folded = foldHunk(runs);
        for (const kind of ["same", "removed", "added"] as const) {
          const shown = folded
            .filter((item) => item.kind === kind)
            .reduce((sum, item) => sum + ("lines" in item ? item.lines.length : item.count), 0);
          expect(shown).toBe(lines(kind));
        }
        expect(folded.some((item) => item.kind === "same" && !("lines" in item))).toBe(false);
      }),
    );
  });
});
