// A tool loop that is not finished: whether a plan may reach into it, and what of it stays as it is even then. A provider
// wants the loop's reasoning back with the calls that it led to (A16, A17).
import { type Event, isReasoning } from "../event/event.ts";
import { unfinishedLoop } from "../event/safe-cut.ts";
import { stripAttachments } from "../strategies/strip-attachments.ts";
import { stripReasoning } from "../strategies/strip-reasoning.ts";
import { type CompactionRequest, hidesTurns } from "./compaction-request.ts";
import { findUnchanged } from "./plan-effect.ts";

/**
 * Whether the range may reach into an unfinished loop: where its end was named, or the request says so. What hides whole
 * turns never may, for the loop's reasoning would go.
 */
export function entersLoop(
  request: Pick<CompactionRequest, "range" | "intoLoop" | "policies" | "strategies">,
): boolean {
  const { range, intoLoop = false } = request;
  const isAsked = intoLoop || range.to !== undefined || range.keep !== undefined;
  return isAsked && !hidesTurns(request);
}

/** The request with all that must stay of an unfinished loop named in `keep`: reasoning, requests, calls without a result. */
export function keepLoop(request: CompactionRequest): CompactionRequest {
  const turn = request.turns.get(request.turnCount - 1);
  const start = unfinishedLoop(turn?.events ?? []);
  if (turn === undefined || start === null) return request;
  const { policies, strategies } = request;
  const uses = (wanted: object): boolean => strategies?.uses.some(({ strategy }) => strategy === wanted) === true;
  const omits = strategies?.uses.some(({ strategy }) => strategy.omitsCalls === true) === true;
  const isKept = {
    reasoning: strategies === undefined ? policies.reasoning !== undefined : uses(stripReasoning) || omits,
    requests: strategies === undefined ? policies.attachments !== undefined : uses(stripAttachments),
  };
  const waiting = unansweredCalls(turn.events.slice(start));
  const isUnchanged = findUnchanged({ ...request, pairs: undefined });
  const kept = turn.events.filter((event, index) => {
    const stays =
      waiting.has(event) ||
      (isKept.reasoning && isReasoning(event)) ||
      (isKept.requests && event.type === "chat_request");
    // What is named is read as it was said: what an older compaction took is not to come back.
    return index >= start && stays && isUnchanged(turn, event, index);
  });
  return kept.length === 0 ? request : { ...request, keep: [...(request.keep ?? []), ...kept.map(({ id }) => id)] };
}

function unansweredCalls(events: readonly Event[]): ReadonlySet<Event> {
  const waiting = new Map<string, Event[]>();
  for (const event of events) {
    if (event.type === "tool_call_request") waiting.set(event.call_id, [...(waiting.get(event.call_id) ?? []), event]);
    else if (event.type === "tool_call_response") waiting.get(event.call_id)?.shift();
  }
  return new Set([...waiting.values()].flat());
}
