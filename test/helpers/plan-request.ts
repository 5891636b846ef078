// Plans over conversations in notation, for tests of planning.

import { type CompactionPlan, type PlanInput, planCompaction } from "../../src/core/compact/plan.ts";
import { isNothing } from "../../src/core/conversation/bound-resolution.ts";
import type { Compaction } from "../../src/core/conversation/compaction.ts";
import type { Turn } from "../../src/core/conversation/event.ts";
import type { Policies } from "../../src/core/conversation/policy.ts";
import { parseConversation } from "./notation.ts";

/** The policy that strips both halves of every call. */
export const STRIP = { policy: "strip", request: true, response: true } as const;
/** The policies of a request that says nothing else. */
export const DEFAULT: Policies = { reasoning: "strip", tool_calls: STRIP };
export const SUMMARIZE: Policies = { summary: { policy: "summarize", model: "a/b" } };

/** A request for all turns by the default policies. */
export function requestFor(turns: readonly Turn[], more: Partial<PlanInput> = {}): PlanInput {
  return {
    turnCount: turns.length,
    turnTimes: [],
    compactions: [],
    turns: new Map(turns.map((turn) => [turn.index, turn])),
    now: "2026-03-01T00:00:00Z",
    range: { keep: 0 },
    policies: DEFAULT,
    ...more,
  };
}

/** Plans over a conversation in notation. */
export function ask(notation: string, more: Partial<PlanInput> = {}): ReturnType<typeof planCompaction> {
  return planCompaction(requestFor(parseConversation(notation), more));
}

/** The same, when something must come of it. */
export function planned(notation: string, more: Partial<PlanInput> = {}): CompactionPlan {
  const plan = ask(notation, more);
  if (isNothing(plan)) throw new Error(`nothing planned: ${plan.nothing}`);
  return plan;
}

/** A compaction in force, older than any plan. */
export function live(from_turn: number, to_turn: number, more: Partial<Compaction>): Compaction {
  return {
    type: "compaction",
    id: `c${from_turn}-${to_turn}`,
    timestamp: "2026-02-01T00:00:00Z",
    from_turn,
    to_turn,
    ...more,
  };
}
