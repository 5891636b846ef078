// Plans a compaction: from a range as a person wrote it and the policies of a profile, or strategies, to the compaction that would be
// stored and its effect. Pure; the caller fills in ids, times, digests and token counts.
import { isNothing, type Nothing, resolveBounds } from "../conversation/bound-resolution.ts";
import {
  type Compaction,
  compareCompactions,
  type SelectedCall,
  type ToolHint,
  type UniformToolCallPolicy,
} from "../conversation/compaction.ts";
import { contentPolicies, mapPolicies } from "../conversation/contents/content-types.ts";
import {
  type Event,
  isReasoning,
  joinRuns,
  type ToolCallRequest,
  type Turn,
  type TurnRange,
  traitsOf,
} from "../conversation/event.ts";
import type { Policies, SummaryPolicy } from "../conversation/policy.ts";
import {
  cutRangeOf,
  type EventRange,
  extendEventRange,
  isInRange,
  locateRange,
} from "../conversation/range-location.ts";
import { unfinishedLoop } from "../conversation/tool-pairing.ts";
import { type CompactionDraft, type CompactionPlan, hidesTurns, type PlanInput } from "./compaction-request.ts";
import { effectOf, explainNothing, findUnchanged, nothingChanged, nothingVisible } from "./plan-effect.ts";
import type { Strategy } from "./strategies/strategy.ts";
import { planStrategies, type StrategyOutcome } from "./strategies/strategy-names.ts";
import { stripReasoning } from "./strategies/strip-content.ts";
import { listHiding, planTimeline } from "./timeline.ts";
import { hintFor, type ToolCompactionHints } from "./tool-hints.ts";

/** Exported here, next to the function that uses them. */
export type { CompactionDraft, CompactionPlan, PlanInput };

/**
 * Plans a compaction, or says why there is nothing to compact, and what to type. Throws the errors of a wrong request:
 * `contradictory_flags`, `bad_keep`, `unknown_event`, `ambiguous_event`.
 */
export function planCompaction(asked: PlanInput): CompactionPlan | Nothing {
  const plan = planAsAsked(asked);
  return isNothing(plan) ? explainNothing(plan, asked, planAsAsked) : plan;
}

function planAsAsked(asked: PlanInput): CompactionPlan | Nothing {
  const resolved = resolveBounds(asked.range, asked);
  if (isNothing(resolved)) return resolved;
  const intoLoop = entersLoop(asked);
  const request = intoLoop ? keepLoop(asked) : asked;
  const { turnCount, turns, compactions } = request;
  const isSummary = isSummarizing(request);
  const located = locateRange(resolved, { turnCount, turns, touchesRequests: touchesRequests(request), intoLoop });
  if (located === null) return nothingVisible(resolved, request);
  const range = isSummary ? extendEventRange(located, compactions, request) : located;
  const { fields, steps } = isSummary ? NO_FIELDS : fieldsOf(range, request);
  const draft = createDraft(range, request, fields);
  const trial = trialOf(draft, isSummary);
  const evenIfHidden = mayBeHidden(request);
  const effect = effectOf(trial, range, { ...request, evenIfHidden, pairs: request.strategyFacts?.pairs });
  if (!effect.changes && draft.tools === undefined) return nothingChanged(range, request, steps);
  const stats = { ...draft.stats, original_message_count: effect.messages, events_removed: effect.removed };
  return {
    compaction: { ...draft, stats },
    ...(isSummary && request.summary === undefined ? { summarize: summaryPolicyOf(request) } : {}),
    ...(isSameRange(range, located) ? {} : { extendedFrom: cutRangeOf(located, request) }),
    segments: planTimeline([trial], request),
    hiddenBy: isSummary || draft.turns !== undefined ? [] : listHiding(range, request),
    steps,
  };
}

/** A plan under a summary has no effect yet: it is made only if its turns were named. */
function mayBeHidden({ range: { from, to, keep }, evenIfHidden = false }: PlanInput): boolean {
  return evenIfHidden || from !== undefined || to !== undefined || keep !== undefined;
}

type Rules = Pick<PlanInput, "policies" | "strategies">;

function isSummarizing({ policies, strategies }: Rules): boolean {
  if (strategies === undefined) return policies.summary !== undefined;
  return strategies.uses.some(({ strategy }) => strategy.summarizes === true);
}

function summaryPolicyOf({ policies }: Rules): SummaryPolicy {
  return policies.summary ?? { policy: "summarize" };
}

function touchesRequests({ policies, strategies }: Rules): boolean {
  if (strategies !== undefined) return strategies.uses.some(({ strategy }) => strategy.touchesRequests === true);
  return policies.summary !== undefined || policies.turns !== undefined || changesRequests(policies);
}

function changesRequests(policies: Policies): boolean {
  return mapPolicies(policies, (type) => type.touchesRequests === true).includes(true);
}

const NO_FIELDS: StrategyOutcome = { fields: {}, steps: [] };

/** The mechanical policies with the hints frozen into them. */
function fieldsOf(range: EventRange, request: PlanInput): StrategyOutcome {
  const {
    policies,
    strategies,
    calls,
    turnCount,
    turns,
    compactions,
    keep = [],
    stubs,
    hints = {},
    strategyFacts: known,
  } = request;
  if (calls !== undefined) return { fields: { tool_calls: { policy: "selective", calls } }, steps: [] };
  if (strategies !== undefined)
    return planStrategies(strategies.uses, { ...known, hints, turnCount, turns, compactions, range, keep }, stubs);
  return { fields: { ...mechanicalOf(policies), ...freezeHints(range, request) }, steps: [] };
}

function createDraft(range: EventRange, request: PlanInput, fields: StrategyOutcome["fields"]): CompactionDraft {
  const { strategies, summary, profile, source = "manual", stubs } = request;
  const bounds = cutRangeOf(range, request);
  const keep = keptIn(range, request);
  const basis = [...request.compactions].sort(compareCompactions).map(({ id }) => id);
  const omitted = fields.turns === undefined ? [] : omittedIn(range, keep, request);
  const writesStubs = stubs !== undefined && Object.keys(stubs).length > 0 && fields.tool_calls !== undefined;
  const needs = mapPolicies(fields, ({ isNeeded, content }) => (isNeeded === true ? [content] : [])).flat();
  return {
    type: "compaction",
    from_turn: bounds.from,
    to_turn: bounds.to,
    from_event: bounds.fromEvent,
    to_event: bounds.toEvent,
    ...(keep.length === 0 ? {} : { keep }),
    ...(isSummarizing(request) && summary !== undefined ? { summary } : {}),
    ...fields,
    ...(writesStubs ? { stubs } : {}),
    ...(needs.length === 0 ? {} : { needs }),
    ...(basis.length === 0 ? {} : { basis }),
    profile,
    source,
    strategy: strategies?.names,
    ...(omitted.length === 0 ? {} : { stats: { turns_omitted: omitted } }),
  };
}

/** The policies that count when there is no summary. */
function mechanicalOf(policies: Policies): Partial<CompactionDraft> {
  const { turns } = policies;
  return { turns, ...contentPolicies(policies) };
}

/** Placeholder for the id of a draft: sorts after every id. */
export const DRAFT_ID = "\uffff";

/** Returns a draft as the newest compaction of all, with a placeholder for a summary that is not written yet. */
export function trialOf(draft: CompactionDraft, isSummary: boolean): Compaction {
  const trial: Compaction = { ...draft, id: DRAFT_ID, timestamp: "9999-12-31T23:59:59Z" };
  return isSummary && trial.summary === undefined ? { ...trial, summary: { summary: "" } } : trial;
}

function keptIn(range: EventRange, { keep = [], turns }: PlanInput): readonly string[] {
  if (keep.length === 0) return [];
  const inside = new Set<string>();
  for (const turn of turns.values()) {
    for (const [index, event] of turn.events.entries()) {
      if (isInRange(range, turn.index, index)) inside.add(event.id);
    }
  }
  return [...new Set(keep)].filter((id) => inside.has(id));
}

/** The turns of a range that an omission hides something of, as runs; empty if it keeps no turn whole. */
function omittedIn({ from, to }: EventRange, keep: readonly string[], { turns }: PlanInput): TurnRange[] {
  const kept = new Set(keep);
  const gone = Array.from({ length: to - from + 1 }, (_, at) => from + at).filter((turn) =>
    (turns.get(turn)?.events ?? []).some((event) => traitsOf(event).providerVisible && !kept.has(event.id)),
  );
  return gone.length === to - from + 1 ? [] : [...joinRuns(gone.map((turn) => ({ from: turn, to: turn })))];
}

function isSameRange(a: EventRange, b: EventRange): boolean {
  return a.from === b.from && a.fromIndex === b.fromIndex && a.to === b.to && a.toIndex === b.toIndex;
}

interface HintFacts {
  readonly policies: Policies;
  readonly hints?: ToolCompactionHints;
  readonly turns: ReadonlyMap<number, Turn>;
}

/**
 * Returns the fields that hints add to a uniform policy: `tool_overrides` for the tools called in the range, and by name the calls whose
 * result is to be removed. Hints never change `omit`, nor a half of the call on which the policy is silent: `strip-requests` strips no
 * result (RFD D17: a hint exempts). A result is removed only where results are stripped.
 */
export function freezeHints(
  range: EventRange,
  { policies, hints = {}, turns }: HintFacts,
): Pick<Compaction, "tool_calls" | "tool_overrides"> {
  const policy = policies.tool_calls;
  if (policy === undefined || policy.policy === "omit") return {};
  const calls = callsIn(range, turns);
  const names = new Set(calls.map(({ name }) => name));
  const overrides = overridesFor(names, hints, policy);
  const removed = stripsResults(policy) ? calls.filter(({ name }) => hintFor(name, hints).response === "remove") : [];
  return {
    ...(removed.length === 0
      ? {}
      : { tool_calls: { policy: "selective", calls: removed.map(omitCall), else: policy } }),
    ...(Object.keys(overrides).length === 0 ? {} : { tool_overrides: overrides }),
  };
}

function stripsResults(policy: UniformToolCallPolicy): boolean {
  return policy.policy === "strip" && policy.response;
}

function omitCall({ id }: ToolCallRequest): SelectedCall {
  return { event: id, request: "omit", response: "omit" };
}

function callsIn(range: EventRange, turns: ReadonlyMap<number, Turn>): readonly ToolCallRequest[] {
  return [...turns.values()].flatMap((turn) =>
    turn.events.flatMap((event, index) =>
      event.type === "tool_call_request" && isInRange(range, turn.index, index) ? [event] : [],
    ),
  );
}

/** The hints that projection knows, by tool in order of names. Each is complete: projection looks up a tool, not a field. */
function overridesFor(
  tools: ReadonlySet<string>,
  hints: ToolCompactionHints,
  policy: UniformToolCallPolicy,
): Readonly<Record<string, ToolHint>> {
  const asks = policy.policy === "strip" && policy.request;
  const answers = policy.policy === "truncate" || (policy.policy === "strip" && policy.response);
  const entries = [...tools].sort().flatMap((name): [string, ToolHint][] => {
    const { request, response } = hintFor(name, hints);
    const hint: ToolHint = {
      ...(request === undefined || !asks ? {} : { request }),
      ...(response === undefined || response === "remove" || !answers ? {} : { response }),
    };
    return Object.keys(hint).length === 0 ? [] : [[name, hint]];
  });
  return Object.fromEntries(entries);
}

// An unfinished tool loop: whether a plan may reach into it, and what of it must stay even then. A provider wants the loop's reasoning back
// with the calls that it led to (A16, A17).

/**
 * Whether the range may reach into an unfinished loop: if its end was named, or the request says so. What hides whole turns never may,
 * because the loop's reasoning would be lost.
 */
function entersLoop(request: Pick<PlanInput, "range" | "intoLoop" | "policies" | "strategies">): boolean {
  const { range, intoLoop = false } = request;
  const isAsked = intoLoop || range.to !== undefined || range.keep !== undefined;
  return isAsked && !hidesTurns(request);
}

/** The request with everything in `keep` that must stay of an unfinished loop: reasoning, requests, calls without a result. */
function keepLoop(request: PlanInput): PlanInput {
  const turn = request.turns.get(request.turnCount - 1);
  const start = unfinishedLoop(turn?.events ?? []);
  if (turn === undefined || start === null) return request;
  const { strategies } = request;
  // Where strategies decide, the profile's policies do not count.
  const policies = strategies === undefined ? request.policies : {};
  const asks = (is: (strategy: Strategy) => boolean): boolean =>
    strategies?.uses.some(({ strategy }) => is(strategy)) === true;
  const isKept = {
    reasoning:
      policies.reasoning !== undefined ||
      asks((strategy) => strategy === stripReasoning || strategy.omitsCalls === true),
    requests: changesRequests(policies) || asks(({ touchesRequests: touches }) => touches === true),
  };
  const waiting = unansweredCalls(turn.events.slice(start));
  const isUnchanged = findUnchanged({ ...request, pairs: undefined });
  const kept = turn.events.filter((event, index) => {
    const stays =
      waiting.has(event) ||
      (isKept.reasoning && isReasoning(event)) ||
      (isKept.requests && event.type === "chat_request");
    // What `keep` names is read as recorded, so what an older compaction took must not be named: it would come back.
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
