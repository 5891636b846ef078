// Which stretch of the timeline the tokens of a view are booked on.
import { describe, expect, it } from "vitest";
import { segmentTokens } from "../../../src/app/compact/compact-report.ts";
import { trialOf } from "../../../src/core/compact/plan.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { project } from "../../../src/core/conversation/projection.ts";
import { makeCompaction, summaryOf } from "../../helpers/make-compaction.ts";
import { parseConversation } from "../../helpers/notation.ts";
import { planned } from "../../helpers/plan-request.ts";

const TALK = "U R T:read t A | U R T:read t T:grep t A | U R A | U A";

/** The stretches with the number of events in each, before and after, starts of turns included. */
function segments(compactions: readonly Compaction[], range: object): readonly string[] {
  const turns = new Map(parseConversation(TALK).map((turn) => [turn.index, turn]));
  const plan = planned(TALK, { compactions, range, policies: { reasoning: "strip" } });
  const viewOf = (all: readonly Compaction[]) => project({ turnCount: 4, turns, compactions: all });
  const after = viewOf([...compactions, trialOf(plan.compaction, false)]);
  const facts = { turns, before: viewOf(compactions), after, countEvent: () => 1 };
  return segmentTokens(plan, facts).map(
    ({ from, to, kind, tokens }) => `${from}..${to} ${kind} ${tokens.before} ${tokens.after}`,
  );
}

const last = { type: "turn", turn: 2 } as const;

describe("segmentTokens", () => {
  it("books what is kept of a cut turn on the stretch that is kept, not on the summary before it, a result as its call", () => {
    const cut = makeCompaction("old", [0, 1], { ...summaryOf("told"), to_event: "e1.3" });
    expect(segments([cut], { from: last, keep: 0 })).toEqual([
      "0..1 summary 3 3",
      // A result whose call the summary replaces goes with it.
      "1..1 kept 3 3",
      "2..3 compacted 7 6",
    ]);
  });

  it("books what precedes a summary that begins inside its turn on what is kept there", () => {
    const cut = makeCompaction("old", [0, 1], { ...summaryOf("told"), from_event: "e0.2" });
    expect(segments([cut], { from: last, keep: 0 })).toEqual([
      "0..0 kept 2 2",
      "0..1 summary 3 3",
      "2..3 compacted 7 6",
    ]);
  });

  it("distinguishes older compactions that share a turn", () => {
    const older = makeCompaction("old", [0, 1], { attachments: "strip", to_event: "e1.3" });
    expect(segments([older], { from: last, keep: 0 })).toEqual([
      "0..1 compacted 10 10",
      "1..1 kept 4 4",
      "2..3 compacted 7 6",
    ]);
  });
});
