// @module-tag law
// What each policy of a profile takes out.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { policySteps } from "../../../src/core/compact/timeline.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { traitsOf, type View } from "../../../src/core/conversation/event.ts";
import { project, projectTurns } from "../../../src/core/conversation/projection.ts";
import { estimateEvent } from "../../../src/core/conversation/token-estimate.ts";
import { makeCompaction, STRIP_TOOLS } from "../../helpers/make-compaction.ts";
import { parseConversation } from "../../helpers/notation.ts";
import { randomConversation } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";

const list = parseConversation("U R T:read t A | U R R T:grep t A | U A");
const turns = new Map(list.map((turn) => [turn.index, turn]));

function stepsOf(fields: Partial<Compaction>): ReturnType<typeof policySteps> {
  const compaction = makeCompaction("new", [0, 1], fields);
  const viewOf = (compactions: readonly Compaction[]) => project({ turnCount: 3, turns, compactions });
  return policySteps(compaction, { before: viewOf([]), after: viewOf([compaction]), countEvent: estimateEvent });
}

const sum = (list: readonly number[]): number => list.reduce((total, value) => total + value, 0);
const tokensOf = ({ turns: all }: View): number => sum(all.flatMap(({ events }) => events.map(estimateEvent)));
const countSent = ({ turns: all }: View): number =>
  all.flatMap(({ origin, events }) => (origin.kind === "kept" ? events.filter((e) => traitsOf(e).providerVisible) : []))
    .length;

describe("policySteps", () => {
  it("separates the policies, each by its key", () => {
    const [reasoning, calls, ...others] = stepsOf({ ...STRIP_TOOLS, reasoning: "strip" });
    expect(others).toEqual([]);
    expect(reasoning).toMatchObject({ strategy: "reasoning", events_removed: 3 });
    expect(calls).toMatchObject({ strategy: "tool_calls", events_removed: 0 });
    expect(stepsOf({ tool_calls: { policy: "omit" } })).toMatchObject([{ strategy: "tool_calls", events_removed: 4 }]);
    expect(stepsOf({ attachments: "strip" })).toEqual([
      { strategy: "attachments", events_removed: 0, estimated_tokens_saved: 0 },
    ]);
  });

  it("gives a summary and an omission all that goes, whatever else the record says", () => {
    expect(stepsOf({ turns: "omit", reasoning: "strip" })).toMatchObject([{ strategy: "turns", events_removed: 11 }]);
    expect(stepsOf({ summary: { summary: "s" } })).toMatchObject([{ strategy: "summary", events_removed: 11 }]);
  });

  it("adds up to what the compaction takes out, over any stack of compactions", () => {
    fc.assert(
      fc.property(randomConversation, ({ turns: all, compactions }) => {
        const newest = compactions.at(-1);
        if (newest === undefined) return;
        const [before, after] = [projectTurns(all, compactions.slice(0, -1)), projectTurns(all, compactions)];
        const steps = policySteps(
          { ...newest, reasoning: "strip", attachments: "strip", tool_calls: { policy: "omit" } },
          { before, after, countEvent: estimateEvent },
        );
        expect(sum(steps.map((step) => step.events_removed))).toBe(countSent(before) - countSent(after));
        const total = tokensOf(before) - tokensOf(after);
        expect(Math.abs(sum(steps.map((step) => step.estimated_tokens_saved)) - total)).toBeLessThanOrEqual(
          steps.length,
        );
      }),
      { numRuns: runs(300) },
    );
  });
});
