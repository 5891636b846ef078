// Tool calls and results as the Anthropic Messages API wants them: every call answered once, every result asked for, ids
// unique and well-formed (rules A1, A2, A6–A8). Ids change only where they must, and always in the same way.
import type { View } from "../projection/view.ts";
import { type AssignId, type CallPlan, type CallRules, planProviderCalls, unusedId } from "./call-plan.ts";

export type { CallPlan } from "./call-plan.ts";

/** Longest id the API takes, in characters (A8). */
const MAX_ID = 64;

const assignId: AssignId = (call, isUsed) => {
  const valid = call.call_id.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, MAX_ID) || "call";
  const id = unusedId(valid, MAX_ID, isUsed);
  if (id === call.call_id) return { id, rules: [] };
  return { id, rules: [...(valid === call.call_id ? [] : ["A8"]), ...(id === valid ? [] : ["A6"])] };
};

const RULES: CallRules = {
  answers: "newest",
  assignId,
  rules: { unanswered: "A1", unasked: "A2", repeated: "A7" },
};

/** Plans the calls of a view. An unanswered call of the newest assistant message gets an error as its result, others go. */
export function planCalls(view: View): CallPlan {
  return planProviderCalls(view, RULES);
}
