// Plans a compaction: from a range as a person wrote it and the policies of a profile, or strategies, to the compaction that
// would be stored, and what it would do. Pure; ids, times, digests and token counts are filled in by the caller.
import { type Compaction, compareCompactions, type StubStyle, type Summary } from "../compaction/compaction.ts";
import type { Policies, SummaryPolicy } from "../compaction/policy.ts";
import { isReasoning } from "../event/event.ts";
import { planReading } from "../projection/hidden-turns.ts";
import type { BoundFacts } from "../range/bound-position.ts";
import {
  isNothing,
  type Nothing,
  type RangeRequest,
  resolveBounds,
  turnsForBounds,
} from "../range/bound-resolution.ts";
import { cutRangeOf, type EventRange, isInRange, locateRange } from "../range/range-location.ts";
import { unfinishedLoop } from "../range/safe-cut.ts";
import { extendEventRange, standsForTurns } from "../range/summary-extent.ts";
import { type CutRange, rangesIntersect, type TurnRange } from "../range/turn-range.ts";
import type { StepReport } from "../strategies/compose-steps.ts";
import { planStrategies, type StrategyOutcome, type StrategyRequest } from "../strategies/plan-strategies.ts";
import { stripReasoning } from "../strategies/strip-reasoning.ts";
import type { ToolCompactionHints } from "../tools/tool-hints.ts";
import { freezeHints } from "./freeze-hints.ts";
import { effectOf } from "./plan-effect.ts";
import { listHiding, type PlanSegment, planTimeline } from "./plan-timeline.ts";

export interface CompactionRequest extends BoundFacts {
  readonly range: RangeRequest;
  /** Those of a profile; not looked at where strategies decide. */
  readonly policies: Policies;
  /** Strategies in place of a profile. */
  readonly strategies?: StrategyRequest;
  /** How stubs are written. */
  readonly stubs?: StubStyle;
  /** The accepted text, when the policy is a summary and there is one already. */
  readonly summary?: Summary;
  /** Hints in force; those of tools called in the range are frozen into the compaction. */
  readonly hints?: ToolCompactionHints;
  readonly profile?: string;
  readonly source?: NonNullable<Compaction["source"]>;
  /** Ids of events that stay unchanged; those outside the range are left out of the plan. */
  readonly keep?: readonly string[];
}

/** A compaction before the store has given it id, time and digest; `stats` has no tokens yet. */
export type CompactionDraft = Omit<Compaction, "id" | "timestamp" | "covers">;

export interface CompactionPlan {
  readonly compaction: CompactionDraft;
  /** How to make the summary when its text is not there yet; `compaction.summary` is absent then. */
  readonly summarize?: SummaryPolicy;
  /** The range before it was extended over summaries that it partly overlapped; absent when it was not. */
  readonly extendedFrom?: CutRange;
  /** The whole conversation as it would be read. */
  readonly segments: readonly PlanSegment[];
  /** Ids of the live summaries that hide all of a mechanical plan until they are reverted, oldest first; usually empty. */
  readonly hiddenBy: readonly string[];
  /** What each strategy added to those before it, in order; empty where a profile decided. */
  readonly steps: readonly StepReport[];
}

/** Lists the turns (0-based, ascending) that planCompaction looks into: read them, then plan. */
export function planCompactionReading(request: Omit<CompactionRequest, "turns">): readonly number[] {
  const wanted = new Set(turnsForBounds(request.range, request));
  for (const turn of strategyReading(request)) wanted.add(turn);
  // How many turns hold the protected messages shows only once they are read: without them the range is at its longest.
  const longest = { ...request.range, protectedMessages: 0 };
  const range = resolveBounds(longest, { ...request, turns: new Map() });
  if (!isNothing(range)) {
    const { from, to } = !isSummarizing(request) ? range : unionWithSummaries(range, request);
    for (let turn = from; turn <= to; turn++) wanted.add(turn);
  }
  if (request.turnCount > 0) wanted.add(request.turnCount - 1);
  return [...wanted].sort((a, b) => a - b);
}

/**
 * Plans a compaction, or says why there is nothing to compact: nothing in the range, or nothing in it that would be read
 * differently. Throws the errors of a wrong request: `contradictory_flags`, `bad_keep`, `unknown_event`, `ambiguous_event`.
 */
export function planCompaction(asked: CompactionRequest): CompactionPlan | Nothing {
  const resolved = resolveBounds(asked.range, asked);
  if (isNothing(resolved)) return resolved;
  const intoLoop = reachesIntoLoop(asked);
  const request = intoLoop ? keepLoopReasoning(asked) : asked;
  const { turnCount, turns, compactions } = request;
  const isSummary = isSummarizing(request);
  const located = locateRange(resolved, { turnCount, turns, touchesRequests: touchesRequests(request), intoLoop });
  if (located === null)
    return { nothing: "nothing in the range may be compacted yet: the model is still working on it" };
  const range = isSummary ? extendEventRange(located, compactions, request) : located;
  const { fields, steps } = isSummary ? NO_FIELDS : fieldsOf(range, request);
  const draft = createDraft(range, request, fields);
  const trial = trialOf(draft, isSummary);
  const effect = effectOf(trial, range, { ...request, pairs: request.strategies?.pairs });
  if (!effect.changes && draft.tools === undefined) {
    const what = request.strategies === undefined ? "these policies" : namesOf(request.strategies).join(", ");
    return { nothing: `turns ${range.from}..${range.to} hold nothing that ${what} would change` };
  }
  const stats = { original_message_count: effect.messages, events_removed: effect.removed };
  return {
    compaction: { ...draft, stats },
    ...(isSummary && request.summary === undefined ? { summarize: summaryPolicyOf(request) } : {}),
    ...(isSameRange(range, located) ? {} : { extendedFrom: cutRangeOf(located, request) }),
    segments: planTimeline(trial, request),
    hiddenBy: isSummary || draft.turns !== undefined ? [] : listHiding(range, request),
    steps,
  };
}

/** The turns that strategies look at beside those of the range. */
function strategyReading(request: Omit<CompactionRequest, "turns">): readonly number[] {
  const { strategies, turnCount, compactions } = request;
  if (strategies === undefined || isSummarizing(request)) return [];
  const readsAll = strategies.uses.some(({ strategy }) => strategy.readsAll === true);
  return readsAll ? Array.from({ length: turnCount }, (_, turn) => turn) : planReading(turnCount, compactions);
}

type Rules = Pick<CompactionRequest, "policies" | "strategies">;

function isSummarizing({ policies, strategies }: Rules): boolean {
  if (strategies === undefined) return policies.summary !== undefined;
  return strategies.uses.some(({ strategy }) => strategy.summarizes === true);
}

function summaryPolicyOf({ policies }: Rules): SummaryPolicy {
  return policies.summary ?? { policy: "summarize" };
}

function touchesRequests({ policies, strategies }: Rules): boolean {
  if (strategies !== undefined) return strategies.uses.some(({ strategy }) => strategy.touchesRequests === true);
  return policies.summary !== undefined || policies.turns !== undefined || policies.attachments !== undefined;
}

/**
 * Whether the range may reach into a tool loop that is not finished: where tokens are left alone in place of turns, and
 * only calls and reasoning are touched. An agent's turn may be hours long; it must not wait for its end (decision 012).
 */
function reachesIntoLoop(request: CompactionRequest): boolean {
  const { protectTokens, to, keep } = request.range;
  return protectTokens !== undefined && to === undefined && keep === undefined && !touchesRequests(request);
}

/** Reasoning of an unfinished loop stays: its provider wants it back with the calls it led to (A16, A17). */
function keepLoopReasoning(request: CompactionRequest): CompactionRequest {
  const stripsReasoning = request.strategies?.uses.some(({ strategy }) => strategy === stripReasoning) === true;
  const events = request.turns.get(request.turnCount - 1)?.events ?? [];
  const loop = stripsReasoning ? unfinishedLoop(events) : null;
  if (loop === null) return request;
  const reasoning = events.slice(loop).filter((event) => isReasoning(event));
  return { ...request, keep: [...(request.keep ?? []), ...reasoning.map(({ id }) => id)] };
}

function namesOf({ uses, names }: StrategyRequest): readonly string[] {
  return names ?? uses.map(({ strategy }) => strategy.name);
}

const NO_FIELDS: StrategyOutcome = { fields: {}, steps: [] };

/** The mechanical policies with the hints frozen into them. */
function fieldsOf(range: EventRange, request: CompactionRequest): StrategyOutcome {
  const { policies, strategies, turnCount, turns, compactions, keep = [], stubs } = request;
  if (strategies !== undefined)
    return planStrategies(strategies, { turnCount, turns, compactions, range, keep }, stubs);
  return { fields: { ...mechanicalOf(policies), ...freezeHints(range, request) }, steps: [] };
}

function createDraft(
  range: EventRange,
  request: CompactionRequest,
  fields: StrategyOutcome["fields"],
): CompactionDraft {
  const { strategies, summary, profile, source = "manual", stubs } = request;
  const bounds = cutRangeOf(range, request);
  const keep = keptIn(range, request);
  const basis = [...request.compactions].sort(compareCompactions).map(({ id }) => id);
  const writesStubs = stubs !== undefined && Object.keys(stubs).length > 0 && fields.tool_calls !== undefined;
  return {
    type: "compaction",
    from_turn: bounds.from,
    to_turn: bounds.to,
    ...(bounds.fromEvent === undefined ? {} : { from_event: bounds.fromEvent }),
    ...(bounds.toEvent === undefined ? {} : { to_event: bounds.toEvent }),
    ...(keep.length === 0 ? {} : { keep }),
    ...(isSummarizing(request) && summary !== undefined ? { summary } : {}),
    ...fields,
    ...(writesStubs ? { stubs } : {}),
    ...(basis.length === 0 ? {} : { basis }),
    ...(profile === undefined ? {} : { profile }),
    source,
    ...(strategies === undefined ? {} : { strategy: namesOf(strategies) }),
  };
}

/** The policies that count when there is no summary. */
function mechanicalOf({ reasoning, tool_calls, attachments, turns }: Policies): Partial<CompactionDraft> {
  return {
    ...(turns === undefined ? {} : { turns }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(tool_calls === undefined ? {} : { tool_calls }),
    ...(attachments === undefined ? {} : { attachments }),
  };
}

/** Gives a draft as the newest compaction of all, with a stand-in for a summary that is not written yet. */
export function trialOf(draft: CompactionDraft, isSummary: boolean): Compaction {
  const trial: Compaction = { ...draft, id: "\uffff", timestamp: "9999-12-31T23:59:59Z" };
  return isSummary && trial.summary === undefined ? { ...trial, summary: { summary: "" } } : trial;
}

function keptIn(range: EventRange, { keep = [], turns }: CompactionRequest): readonly string[] {
  if (keep.length === 0) return [];
  const inside = new Set<string>();
  for (const turn of turns.values()) {
    for (const [index, event] of turn.events.entries()) {
      if (isInRange(range, turn.index, index)) inside.add(event.id);
    }
  }
  return [...new Set(keep)].filter((id) => inside.has(id));
}

function unionWithSummaries(range: TurnRange, { compactions, turnCount }: Omit<CompactionRequest, "turns">): TurnRange {
  const summaries = compactions.filter((compaction) => standsForTurns(compaction));
  let { from, to } = range;
  for (let grown = true; grown; ) {
    const touching = summaries.filter(({ from_turn, to_turn }) =>
      rangesIntersect({ from, to }, { from: from_turn, to: to_turn }),
    );
    const next = {
      from: Math.min(from, ...touching.map(({ from_turn }) => from_turn)),
      to: Math.min(turnCount - 1, Math.max(to, ...touching.map(({ to_turn }) => to_turn))),
    };
    grown = next.from !== from || next.to !== to;
    ({ from, to } = next);
  }
  return { from, to };
}

function isSameRange(a: EventRange, b: EventRange): boolean {
  return a.from === b.from && a.fromIndex === b.fromIndex && a.to === b.to && a.toIndex === b.toIndex;
}
