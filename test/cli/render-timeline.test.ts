import { describe, expect, it } from "vitest";
import type { CompactReport } from "../../src/app/compact-report.ts";
import { renderTimeline } from "../../src/cli/render-timeline.ts";
import { PLAIN } from "../helpers/plain-rendering.ts";

const REPORT: CompactReport = {
  conversation: "fix-parser-k3f9",
  branch: "fix-parser-k3f9/main",
  dryRun: false,
  compaction: { type: "compaction", id: "k3f9q2", timestamp: "2026-11-21T20:30:00Z", from_turn: 3, to_turn: 12 },
  commit: "3fa9c1d4e5f60718293a4b5c6d7e8f9012345678",
  from_turn: 3,
  to_turn: 12,
  policies: "reasoning + tools stripped",
  tokens: { before: 97_300, after: 22_200 },
  segments: [
    { from: 0, to: 2, kind: "summary", policies: "summary p0z1aa", tokens: { before: 1200, after: 1200 } },
    {
      from: 3,
      to: 12,
      kind: "compacted",
      policies: "reasoning + tools stripped",
      tokens: { before: 84_200, after: 9100 },
    },
    { from: 13, to: 15, kind: "kept", tokens: { before: 11_900, after: 11_900 } },
  ],
  warnings: [],
};

describe("renderTimeline", () => {
  it("shows what is kept, compacted and summarised, and what it saves", () => {
    expect(renderTimeline(REPORT, PLAIN)).toMatchInlineSnapshot(`
      "Compacted fix-parser-k3f9/main 3..12: reasoning + tools stripped
      commit 3fa9c1d  compaction k3f9q2
          0..2  summary    summary p0z1aa                       1.2k        █
         3..12  compacted  reasoning + tools stripped   84.2k → 9.1k  -89%  █░░░░░░░
        13..15  kept                                           11.9k        █
         total                                         97.3k → 22.2k  -77%"
    `);
  });

  it("says that a dry run only would, and names no commit", () => {
    expect(renderTimeline({ ...REPORT, dryRun: true, commit: null }, PLAIN).split("\n")[0]).toBe(
      "Would compact fix-parser-k3f9/main 3..12: reasoning + tools stripped",
    );
    expect(renderTimeline({ ...REPORT, dryRun: true, commit: null }, PLAIN)).not.toContain("commit");
  });

  it("gives the reason when there is nothing to compact", () => {
    const nothing = { ...REPORT, compaction: null, commit: null, reason: "Turn 9 is past the last turn, 5." };
    expect(renderTimeline(nothing, PLAIN)).toBe("Nothing to compact. Turn 9 is past the last turn, 5.");
  });

  it("ends with the warnings", () => {
    const warnings = ["hidden by summary p0z1aa until p0z1aa is reverted"];
    expect(
      renderTimeline({ ...REPORT, warnings }, PLAIN)
        .split("\n")
        .at(-1),
    ).toBe(`note: ${warnings[0]}`);
  });

  it("fits on 80 columns", () => {
    expect(
      renderTimeline(REPORT, PLAIN)
        .split("\n")
        .every((line) => line.length <= 80),
    ).toBe(true);
  });
});
