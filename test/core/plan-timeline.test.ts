import { describe, expect, it } from "vitest";
import type { Compaction } from "../../src/core/compaction.ts";
import { planTimeline } from "../../src/core/plan-timeline.ts";
import { parseConversation } from "../helpers/notation.ts";

const turns = new Map(parseConversation("U A | U A | U T t A | U A | U A").map((turn) => [turn.index, turn]));

function compaction(id: string, from_turn: number, to_turn: number, more: Partial<Compaction>): Compaction {
  return { type: "compaction", id, timestamp: `2026-02-0${id.length}T00:00:00Z`, from_turn, to_turn, ...more };
}

const draft = (from: number, to: number, more: Partial<Compaction>): Compaction => ({
  ...compaction("\uffff", from, to, more),
  timestamp: "9999-12-31T23:59:59Z",
});

describe("planTimeline", () => {
  it("shows what the plan covers and what is kept", () => {
    expect(planTimeline(draft(0, 2, { reasoning: "strip" }), { turnCount: 5, turns, compactions: [] })).toEqual([
      { from: 0, to: 2, kind: "compacted", policies: "reasoning stripped", planned: true },
      { from: 3, to: 4, kind: "kept" },
    ]);
  });

  it("shares the turn inside which the plan ends", () => {
    expect(
      planTimeline(draft(0, 2, { to_event: "e2.3", turns: "omit" }), { turnCount: 5, turns, compactions: [] }),
    ).toEqual([
      { from: 0, to: 2, kind: "compacted", policies: "turns omitted", planned: true },
      { from: 2, to: 4, kind: "kept" },
    ]);
  });

  it("shows the compactions in force outside the plan, and summaries over it", () => {
    const compactions = [
      compaction("s", 0, 1, { summary: { summary: "old" } }),
      compaction("mm", 2, 3, { reasoning: "strip" }),
    ];
    expect(planTimeline(draft(1, 2, { attachments: "strip" }), { turnCount: 5, turns, compactions })).toEqual([
      { from: 0, to: 1, kind: "summary", policies: "summary", compaction: "s" },
      { from: 2, to: 2, kind: "compacted", policies: "attachments stripped", planned: true },
      { from: 3, to: 3, kind: "compacted", policies: "reasoning stripped", compaction: "mm" },
      { from: 4, to: 4, kind: "kept" },
    ]);
  });

  it("counts a cut turn that was not read as covered whole", () => {
    expect(
      planTimeline(draft(0, 2, { to_event: "e2.3", turns: "omit" }), {
        turnCount: 5,
        turns: new Map(),
        compactions: [],
      }),
    ).toEqual([
      { from: 0, to: 2, kind: "compacted", policies: "turns omitted", planned: true },
      { from: 3, to: 4, kind: "kept" },
    ]);
  });
});
