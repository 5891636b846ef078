// Plans a compaction: from a range as a person wrote it and the policies of a profile, or strategies, to the compaction that
// would be stored, and what it would do. Pure; ids, times, digests and token counts are filled in by the caller.
import { type Compaction, compareCompactions } from "../compaction/compaction.ts";
import { withKeptTurnsOf } from "../compaction/kept-turns.ts";
import type { Policies, SummaryPolicy } from "../compaction/policy.ts";
import { defined } from "../defined.ts";
import { traitsOf } from "../event/event.ts";
import { planReading } from "../projection/hidden-turns.ts";
import { isNothing, type Nothing, resolveBounds, turnsForBounds } from "../range/bound-resolution.ts";
import { cutRangeOf, type EventRange, isInRange, locateRange } from "../range/range-location.ts";
import { extendEventRange, standsForTurns } from "../range/summary-extent.ts";
import { joinRuns, rangesIntersect, type TurnRange } from "../range/turn-range.ts";
import { planStrategies, type StrategyOutcome, type StrategyRequest } from "../strategies/plan-strategies.ts";
import type { CompactionDraft, CompactionPlan, CompactionRequest } from "./compaction-request.ts";
import { explainByOlder, explainNothing, nothingChanged, nothingVisible } from "./explain-nothing.ts";
import { freezeHints } from "./freeze-hints.ts";
import { entersLoop, keepLoop } from "./loop-range.ts";
import { effectOf } from "./plan-effect.ts";
import { listHiding, planTimeline } from "./plan-timeline.ts";
import { turnsToLeave, withKeptAtHand } from "./unread-turns.ts";

/** Stand beside the function that takes and gives them. */
export type { CompactionDraft, CompactionPlan, CompactionRequest };

/** Lists the turns (0-based, ascending) that planCompaction looks into: read them, and those of `turnsNeeded`, then plan. */
export function planCompactionReading(request: Omit<CompactionRequest, "turns">): readonly number[] {
  const left = new Set(turnsToLeave(request));
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
  return [...wanted].filter((turn) => !left.has(turn)).sort((a, b) => a - b);
}

/**
 * Plans a compaction, or says why there is nothing to compact, and what to type. Throws the errors of a wrong request:
 * `contradictory_flags`, `bad_keep`, `unknown_event`, `ambiguous_event`.
 */
export function planCompaction(asked: CompactionRequest): CompactionPlan | Nothing {
  const plan = planAsAsked(asked);
  return isNothing(plan) ? explainNothing(plan, asked, planAsAsked) : plan;
}

/** Why nothing comes of a request, from some of the turns that older compactions hide; null where these do not show it. */
export function explainFromSome(asked: CompactionRequest): Nothing | null {
  return explainByOlder(asked, planAsAsked);
}

function planAsAsked(asked: CompactionRequest): CompactionPlan | Nothing {
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
  const beneath = mayBeHidden(request);
  const effect = effectOf(trial, range, { ...request, beneath, pairs: request.strategies?.pairs });
  if (!effect.changes && draft.tools === undefined) return nothingChanged(range, request, steps);
  const stats = { ...draft.stats, original_message_count: effect.messages, events_removed: effect.removed };
  return {
    compaction: withKeptAtHand({ ...draft, stats }, request),
    ...(isSummary && request.summary === undefined ? { summarize: summaryPolicyOf(request) } : {}),
    ...(isSameRange(range, located) ? {} : { extendedFrom: cutRangeOf(located, request) }),
    segments: planTimeline([trial], request),
    hiddenBy: isSummary || draft.turns !== undefined ? [] : listHiding(range, request),
    steps,
  };
}

/** A plan beneath a summary changes nothing yet: it is made where its turns were named. */
function mayBeHidden({ range: { from, to, keep }, beneath = false }: CompactionRequest): boolean {
  return beneath || from !== undefined || to !== undefined || keep !== undefined;
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

function namesOf({ uses, names }: StrategyRequest): readonly string[] {
  return names ?? uses.map(({ strategy }) => strategy.name);
}

const NO_FIELDS: StrategyOutcome = { fields: {}, steps: [] };

/** The mechanical policies with the hints frozen into them. */
function fieldsOf(range: EventRange, request: CompactionRequest): StrategyOutcome {
  const { policies, strategies, calls, turnCount, turns, compactions, keep = [], stubs } = request;
  if (calls !== undefined) return { fields: { tool_calls: { policy: "selective", calls } }, steps: [] };
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
  const omitted = fields.turns === undefined ? [] : omittedIn(range, keep, request);
  const writesStubs = stubs !== undefined && Object.keys(stubs).length > 0 && fields.tool_calls !== undefined;
  return {
    type: "compaction",
    from_turn: bounds.from,
    to_turn: bounds.to,
    ...defined({ from_event: bounds.fromEvent, to_event: bounds.toEvent }),
    ...(keep.length === 0 ? {} : { keep }),
    ...(isSummarizing(request) && summary !== undefined ? { summary } : {}),
    ...fields,
    ...(writesStubs ? { stubs } : {}),
    ...(writesStubs && stubs.heads === true ? { needs: ["heads"] } : {}),
    ...(basis.length === 0 ? {} : { basis }),
    ...defined({ profile }),
    source,
    ...(strategies === undefined ? {} : { strategy: namesOf(strategies) }),
    ...(omitted.length === 0 ? {} : { stats: { turns_omitted: omitted } }),
  };
}

/** The policies that count when there is no summary. */
function mechanicalOf({ reasoning, tool_calls, attachments, turns }: Policies): Partial<CompactionDraft> {
  return {
    ...defined({ turns, reasoning, tool_calls, attachments }),
  };
}

/** Stands for the id of a draft: larger than every id. */
export const DRAFT_ID = "\uffff";

/** Gives a draft as the newest compaction of all, with a stand-in for a summary that is not written yet. */
export function trialOf(draft: CompactionDraft, isSummary: boolean): Compaction {
  const trial: Compaction = { ...draft, id: DRAFT_ID, timestamp: "9999-12-31T23:59:59Z" };
  const told = isSummary && trial.summary === undefined ? { ...trial, summary: { summary: "" } } : trial;
  return withKeptTurnsOf(draft, told);
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

/** The turns of a range that an omission hides something of, as runs; none where it keeps no turn whole. */
function omittedIn({ from, to }: EventRange, keep: readonly string[], { turns }: CompactionRequest): TurnRange[] {
  const kept = new Set(keep);
  const gone = Array.from({ length: to - from + 1 }, (_, at) => from + at).filter((turn) =>
    (turns.get(turn)?.events ?? []).some((event) => traitsOf(event).providerVisible && !kept.has(event.id)),
  );
  return gone.length === to - from + 1 ? [] : [...joinRuns(gone.map((turn) => ({ from: turn, to: turn })))];
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
