import { expect, it } from "vitest";
import type { ReviewReport } from "../../../src/app/share/review.ts";
import { renderReview } from "../../../src/cli/render/review.ts";
import { PLAIN } from "../../helpers/plain-rendering.ts";

it("says which file a change is of and how much it takes, however long the file's path is", () => {
  const change = {
    turn: "turn 3",
    title: `tool result Read /home/ada/work/${"harbour/".repeat(12)}lib/pier.ts`,
    tokens: { before: 2600, after: 9 },
    before: "export const pier = 1;",
    after: "[compacted] Read: success",
  };
  const report: ReviewReport = {
    conversation: "tide-m2q8",
    title: { before: "Tide", after: "Tide" },
    fork: "tide-m2q8/try",
    against: "tide-m2q8/main",
    base: null,
    told: null,
    meanwhile: { turns: 0, compactions: 0 },
    tokens: { before: 2700, after: 100 },
    turns: [],
    turns_left_out: 0,
    compactions: [
      {
        compaction: {
          type: "compaction",
          id: "k3f9q2",
          timestamp: "2026-05-01T10:00:00.000Z",
          from_turn: 3,
          to_turn: 3,
        },
        subject: "compact 3..3: tools stripped",
        changes: { largest: [change], count: 1 },
      },
    ],
    reverted: [],
    settings: [],
    marks: [],
  };
  const heading = renderReview(report, PLAIN)
    .split("\n")
    .find((line) => line.includes("turn 3"));
  expect(heading).toBe("    turn 3, tool result Read /h…our/harbour/harbour/lib/pier.ts: 2.6k → 9 tokens");
});
