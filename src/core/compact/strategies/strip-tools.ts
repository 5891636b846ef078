// Strategies that strip calls whatever their content: both halves, or results only. Hints decide per tool: `keep` leaves a half alone,
// `response = "remove"` removes the whole call.
import { canOmit, decideEach } from "./call-conditions.ts";
import { OMIT } from "./encode-decisions.ts";
import type { CallDecision, Strategy, StrategyContext, ViewedCall } from "./strategy.ts";

/** `strip-tools`: strips the arguments and results of calls. */
export const stripTools: Strategy = {
  name: "strip-tools",
  summary: "strip the arguments and results of tool calls",
  decide: (context) => ({ calls: decideEach(context.calls, (call) => stripCall(call, context, true)) }),
};

/** `strip-tool-results`: strips the results of calls. */
export const stripToolResults: Strategy = {
  name: "strip-tool-results",
  summary: "strip the results of tool calls",
  decide: (context) => ({ calls: decideEach(context.calls, (call) => stripCall(call, context, false)) }),
};

function stripCall(call: ViewedCall, { hintFor }: StrategyContext, both: boolean): CallDecision {
  const { request, response, requestState, responseState } = call;
  const hint = hintFor(request.name);
  if (hint.response === "remove" && response !== null && canOmit(call)) return OMIT;
  return {
    ...(both && requestState.isOpen && hint.request !== "keep" ? { request: "strip" } : {}),
    ...(responseState?.isOpen === true && hint.response !== "keep" ? { response: "strip" } : {}),
  };
}
