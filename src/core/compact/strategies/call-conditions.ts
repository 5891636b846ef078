// Conditions of a call that strategies check before they decide about it.
import type { CallPolicy } from "../../conversation/compaction.ts";
import { dropLongTexts, truncateCall } from "../../conversation/tool-stub.ts";
import { stringsIn } from "../hidden-content.ts";
import { type CallFacts, isWriting } from "../tool-call.ts";
import { isGone } from "./encode-decisions.ts";
import { shownTokens } from "./step-effect.ts";
import type { CallDecision, StrategyContext, ViewedCall } from "./strategy.ts";

/** Whether both halves may be left out: one alone would be an orphan, and so would reasoning that is kept. */
export function canOmit({ requestState, responseState, isTied }: ViewedCall): boolean {
  return !isTied && requestState.isOpen && (responseState === null || responseState.isOpen);
}

/** Whether a result is shown and is no error; a shortened one counts. */
export function hasSucceeded({ response, requestState, responseState }: ViewedCall): boolean {
  if (response === null || responseState === null || response.is_error) return false;
  return !isGone(requestState) && !isGone(responseState);
}

/** Whether the whole call is shown as it is and its result is no error. */
export function isWhollyShown(call: ViewedCall): boolean {
  return hasSucceeded(call) && call.requestState.now === undefined && call.responseState?.now === undefined;
}

/** A policy for the result, if a strategy may change it. */
export function forResponse({ responseState }: ViewedCall, policy: CallPolicy): CallDecision {
  return responseState?.isOpen === true ? { response: policy } : {};
}

/**
 * Leaves out the long texts of a call's arguments, if a strategy may change them and it makes a difference. The path always stays, however
 * long.
 */
export function dropBodies(
  { request, requestState }: ViewedCall,
  maxChars: number,
  path: string | undefined,
): CallDecision {
  const max_chars = Math.max(maxChars, path?.length ?? 0);
  if (!requestState.isOpen || dropLongTexts(request, max_chars) === request) return {};
  return { request: { drop: { max_chars } } };
}

/** The files that a call changes, as written. */
export function changedPaths({ kind, path, paths }: CallFacts): readonly string[] {
  if (!isWriting(kind)) return [];
  return paths ?? (path === undefined ? [] : [path]);
}

/**
 * Leaves out of a call's arguments what does not name files, if a strategy may change them: long texts, or what follows the last name in a
 * patch.
 */
export function keepPaths(call: ViewedCall, paths: readonly string[]): CallDecision {
  const { request, requestState } = call;
  if (!requestState.isOpen) return {};
  const max_chars = Math.max(1, ...paths.map(({ length }) => length));
  const texts = stringsIn(dropLongTexts(request, max_chars).arguments);
  if (paths.every((path) => texts.some((text) => text.includes(path)))) return dropBodies(call, max_chars, undefined);
  const ends = stringsIn(request.arguments).flatMap((text) => paths.map((path) => text.indexOf(path) + path.length));
  const truncation = { max_chars: Math.max(1, ...ends), head: 1 };
  return truncateCall(request, truncation) === request ? {} : { request: { truncate: truncation } };
}

/** Collects the decisions of all calls, without empty ones. */
export function decideEach(
  calls: Iterable<ViewedCall>,
  decide: (call: ViewedCall) => CallDecision,
): ReadonlyMap<string, CallDecision> {
  const decisions = new Map<string, CallDecision>();
  for (const call of calls) {
    const decision = decide(call);
    if (decision.request !== undefined || decision.response !== undefined) decisions.set(call.request.id, decision);
  }
  return decisions;
}

/**
 * `new` = among the newest tokens, or with a result that the model has not answered yet; `fading` = among as many before; `old` = before
 * those.
 */
export type CallAge = "new" | "fading" | "old";

/** Returns a function that says how old a call is; `whole` = newest tokens of the conversation, estimated. */
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
