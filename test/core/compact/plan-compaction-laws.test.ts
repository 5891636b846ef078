// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planCompaction } from "../../../src/core/compact/plan.ts";
import { isNothing } from "../../../src/core/conversation/bound-resolution.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { type Turn, traitsOf } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { pairCalls, unfinishedLoop } from "../../../src/core/conversation/tool-pairing.ts";
import { requestFor, SUMMARIZE } from "../../helpers/plan-request.ts";
import { idsAcrossTurns, randomConversation } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";

describe("laws of planning", () => {
  /** Random plans over random conversations; runs that plan nothing are left out. */
  function eachPlan(check: (draft: Compaction, turns: readonly Turn[]) => void): void {
    fc.assert(
      fc.property(randomConversation, fc.boolean(), fc.nat(3), ({ turns }, isSummary, keep) => {
        const text = { policies: SUMMARIZE, summary: { summary: "text" } };
        const plan = planCompaction(requestFor(turns, { range: { keep }, ...(isSummary ? text : {}) }));
        if (!isNothing(plan)) check({ ...plan.compaction, id: "new", timestamp: "2027-01-01T00:00:00Z" }, turns);
      }),
      { numRuns: runs(300) },
    );
  }

  /** Position of the last covered event in the end turn. */
  function endOf(draft: Compaction, turns: readonly Turn[]): number {
    const events = turns[draft.to_turn]?.events ?? [];
    return draft.to_event === undefined ? events.length - 1 : events.findIndex(({ id }) => id === draft.to_event);
  }

  it("a range never ends between a call and its result", () => {
    eachPlan((draft, turns) => {
      const turn = turns[draft.to_turn] as Turn;
      const end = endOf(draft, turns);
      for (const [result, call] of pairCalls([turn], () => false)) {
        expect(turn.events.indexOf(call) <= end).toBe(turn.events.indexOf(result) <= end);
      }
    });
  });

  it("a range that reaches the newest turn says where it ends: what hides turns before an unfinished loop", () => {
    eachPlan((draft, turns) => {
      if (draft.to_turn < turns.length - 1) return;
      expect(draft.to_event).toBeDefined();
      const loop = unfinishedLoop(turns.at(-1)?.events ?? []);
      const hides = draft.summary !== undefined || draft.turns !== undefined;
      if (loop !== null && hides) expect(endOf(draft, turns)).toBeLessThanOrEqual(loop);
    });
  });

  it("an unfinished loop keeps its reasoning, its requests and its calls without a result, whatever is asked", () => {
    eachPlan((draft, turns) => {
      const events = turns.at(-1)?.events ?? [];
      const loop = unfinishedLoop(events);
      if (loop === null) return;
      const shown = new Set(projectTurns(turns, [draft]).turns.flatMap((turn) => turn.events));
      const answered = new Set(events.flatMap((event) => (event.type === "tool_call_response" ? [event.call_id] : [])));
      for (const event of events.slice(loop)) {
        const isWaiting = event.type === "tool_call_request" && !answered.has(event.call_id);
        const isReasoned = event.type === "chat_response" && event.reasoning !== undefined;
        if (isWaiting || isReasoned || event.type === "chat_request") expect(shown.has(event)).toBe(true);
      }
    });
  });

  it("what follows the range is read as before, except results that are removed with their calls in another turn", () => {
    eachPlan((draft, turns) => {
      const apart = idsAcrossTurns(turns);
      const after = new Set(projectTurns(turns, [draft]).turns.flatMap(({ events }) => events));
      const behind = turns
        .slice(draft.to_turn)
        .flatMap(({ index, events }) => (index === draft.to_turn ? events.slice(endOf(draft, turns) + 1) : events));
      for (const event of behind.filter((each) => traitsOf(each).providerVisible && !apart.has(each.id)))
        expect(after.has(event)).toBe(true);
    });
  });
});
