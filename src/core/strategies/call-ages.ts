// How old calls are, by the tokens that a model is sent after them: what was said since tells more of a call's use than turns or time.
import { shownTokens } from "./step-effect.ts";
import type { StrategyContext, ViewedCall } from "./strategy.ts";

/** `new` = among the newest tokens, or with a result that the model has not answered yet; `fading` = among as many before; `old` = before those. */
export type CallAge = "new" | "fading" | "old";

/** Gives a function that tells the age of calls; `whole` = newest tokens of the conversation, estimated. */
export function findAges({ newestFirst }: StrategyContext, whole: number): (call: ViewedCall) => CallAge {
  const unanswered = new Set<string>();
  const ages = new Map<string, CallAge>();
  let tokens = 0;
  let isAnswered = false;
  for (const shown of newestFirst()) {
    const { type, id } = shown.event;
    isAnswered ||= type === "chat_response" || type === "tool_call_request";
    if (!isAnswered) unanswered.add(id);
    tokens += shownTokens(shown);
    if (isAnswered && tokens > 2 * whole) break;
    ages.set(id, tokens <= whole ? "new" : "fading");
  }
  return ({ request, response }) => {
    if (response !== null && unanswered.has(response.id)) return "new";
    return ages.get(request.id) ?? "old";
  };
}
