// What a planned compaction would change, event by event, beyond the compactions in force. Checked twice: as the conversation is read now,
// where what a summary hides neither shows nor answers a call, and without summaries. A mechanical compaction inside a live summary has no
// visible effect until the summary is reverted, but still counts as a change.
import {
  DEFAULT_KEEP_LAST,
  freezeBounds,
  isNothing,
  KEEP_CALLS,
  type Nothing,
} from "../conversation/bound-resolution.ts";
import { type CallPolicy, type Compaction, isHiding } from "../conversation/compaction.ts";
import type { Disposition } from "../conversation/contents/content-type.ts";
import { type CoveredRange, planRanges } from "../conversation/covered-range.ts";
import {
  type CutRange,
  type Event,
  isMessage,
  type ToolCallRequest,
  type Turn,
  traitsOf,
  type View,
} from "../conversation/event.ts";
import { type EventRange, isInRange } from "../conversation/range-location.ts";
import { shortenEvent, shortenParts } from "../conversation/shorten-event.ts";
import { hiddenEvents, type IsHidden, localizeOverlays } from "../conversation/survey.ts";
import { formatTokens } from "../conversation/token-estimate.ts";
import { type CallPairs, pairCalls, unfinishedLoop } from "../conversation/tool-pairing.ts";
import { dropLongTexts, truncateCall } from "../conversation/tool-stub.ts";
import { findMechanicalWinner, findPartWinners } from "../conversation/winner.ts";
import type { CompactionPlan, PlanInput } from "./compaction-request.ts";
import type { StepReport } from "./strategies/encode-decisions.ts";

export interface PlanEffect {
  /** Whether anything would be read differently, now or once a summary over it is reverted. */
  readonly changes: boolean;
  /** Events the projection would leave out, including those already left out. */
  readonly removed: number;
  /** Messages (requests and answers) in the range. */
  readonly messages: number;
}

interface EffectFacts {
  readonly turnCount: number;
  readonly turns: ReadonlyMap<number, Turn>;
  readonly compactions: readonly Compaction[];
  /** Which call each result answers, nothing hidden (`pairCalls`); absent = computed. */
  readonly pairs?: CallPairs | undefined;
  /** Whether a change counts that shows only once a summary is reverted. */
  readonly evenIfHidden?: boolean;
}

/** Determines what a draft would do to the events of its range; every turn of the range must be loaded. */
export function effectOf(draft: Compaction, range: EventRange, facts: EffectFacts): PlanEffect {
  const bare = isHiding(draft) ? outcomesOfHiding(draft) : mechanicalOutcomes(draft, facts);
  const effect = compareOutcomes(range, facts, bare);
  if (isHiding(draft) || !facts.compactions.some(isHiding)) return effect;
  if (effect.changes && facts.evenIfHidden !== false) return effect;
  return { ...effect, changes: compareOutcomes(range, facts, shownOutcomes(draft, facts)).changes };
}

/** Returns a function that says whether an event is read as recorded: neither hidden nor changed by a live compaction. */
export function findUnchanged(facts: EffectFacts): (turn: Turn, event: Event, index: number) => boolean {
  const isHidden = hiddenEvents(facts);
  const outcome = outcomesOf(facts.compactions, facts, facts.pairs ?? pairCalls(facts.turns.values(), NOTHING_HIDDEN));
  return (turn, event, index) => !isHidden(turn.index, index) && outcome(turn, event, index) === "same";
}

function compareOutcomes(range: EventRange, { turns }: EffectFacts, outcomes: Outcomes): PlanEffect {
  let changes = false;
  let removed = 0;
  let messages = 0;
  for (let position = range.from; position <= range.to; position++) {
    const turn = turns.get(position);
    for (let index = 0; turn !== undefined && index < turn.events.length; index++) {
      const event = turn.events[index];
      if (event === undefined || !isInRange(range, position, index)) continue;
      if (isMessage(event)) messages += 1;
      const outcome = outcomes.after(turn, event, index);
      if (outcome === "removed") removed += 1;
      changes ||= outcome !== outcomes.before(turn, event, index);
    }
  }
  return { changes, removed, messages };
}

type OutcomeOf = (turn: Turn, event: Event, index: number) => string;

/** What becomes of an event without a draft and with it. */
interface Outcomes {
  readonly before: OutcomeOf;
  readonly after: OutcomeOf;
}

const SAME: OutcomeOf = () => "same";
const NOTHING_HIDDEN: IsHidden = () => false;

function outcomesOfHiding({ keep }: Compaction): Outcomes {
  const kept = new Set(keep);
  const after: OutcomeOf = (_, event) => (traitsOf(event).providerVisible && !kept.has(event.id) ? "removed" : "same");
  return { before: SAME, after };
}

/** Without summaries and the like. */
function mechanicalOutcomes(draft: Compaction, facts: EffectFacts): Outcomes {
  const mechanical = facts.compactions.filter((compaction) => !isHiding(compaction));
  const pairs = facts.pairs ?? pairCalls(facts.turns.values(), NOTHING_HIDDEN);
  const before = mechanical.length === 0 ? SAME : outcomesOf(mechanical, facts, pairs);
  return { before, after: outcomesOf([...mechanical, draft], facts, pairs) };
}

/** As the conversation is read now. */
function shownOutcomes(draft: Compaction, facts: EffectFacts): Outcomes {
  const { compactions, turns } = facts;
  const isHidden = hiddenEvents(facts);
  const pairs = facts.pairs ?? pairCalls(turns.values(), NOTHING_HIDDEN);
  const shown = (outcome: OutcomeOf): OutcomeOf => {
    return (turn, event, index) => (isHidden(turn.index, index) ? "same" : outcome(turn, event, index));
  };
  return {
    before: shown(outcomesOf(compactions, facts, pairs)),
    after: shown(outcomesOf([...compactions, draft], facts, pairs)),
  };
}

/** Returns a function that says in a word what the policies of compactions do to an event; it must be asked about turns in order. */
function outcomesOf(compactions: readonly Compaction[], { turnCount }: EffectFacts, pairs: CallPairs): OutcomeOf {
  const ranges = planRanges(turnCount, compactions);
  let range: CoveredRange | undefined;
  let turn: Turn | undefined;
  let locals: ReturnType<typeof localizeOverlays> = [];
  return (at, event, index) => {
    if (at !== turn) {
      turn = at;
      if (range === undefined || range.to < at.index) {
        range = ranges.find(({ from, to }) => from <= at.index && at.index <= to);
      }
      locals = range === undefined ? [] : localizeOverlays(range, at);
    }
    const winner = findMechanicalWinner(locals, event, index, pairs);
    const outcome = winner === null ? "same" : outcomeOf(event, winner);
    return stripsParts(event, winner, findPartWinners(locals, event, index)) ? `${outcome}, parts stripped` : outcome;
  };
}

/** Whether parts of an event are stripped that its winner leaves. */
function stripsParts(event: Event, winner: Disposition | null, parts: readonly Disposition[]): boolean {
  if (parts.length === 0) return false;
  const shown = winner === null ? event : shortenEvent(event, winner, {});
  return shown !== null && shortenParts(shown, parts) !== shown;
}

function outcomeOf(event: Event, disposition: Disposition): string {
  const { action } = disposition;
  if (action === "keep" || action === "hide") return "same";
  if (action === "omit") return "removed";
  switch (event.type) {
    case "chat_request":
      return shortenEvent(event, disposition, {}) === event ? "same" : "stripped";
    case "tool_call_request":
      return requestOutcome(event, action);
    case "tool_call_response": {
      if (action === "strip") return `stripped${styleOf(disposition)}`;
      if ("drop" in action) return "same";
      const { max_chars, head } = action.truncate;
      const isShort = typeof event.content === "string" && event.content.length <= max_chars;
      return isShort ? "same" : `truncated ${max_chars} ${head}`;
    }
    default: // reasoning: no other kind has a winner
      return "removed";
  }
}

function requestOutcome(event: ToolCallRequest, action: Exclude<CallPolicy, "keep" | "omit">): string {
  if (action === "strip") return isEmptyObject(event.arguments) ? "same" : "stripped";
  if ("drop" in action) {
    const { max_chars } = action.drop;
    return dropLongTexts(event, max_chars) === event ? "same" : `dropped ${max_chars}`;
  }
  const { max_chars, head } = action.truncate;
  return truncateCall(event, action.truncate) === event ? "same" : `truncated ${max_chars} ${head}`;
}

function styleOf({ compaction: { stubs }, headOf }: Disposition): string {
  const styles = [
    stubs?.pointers === true && "pointer",
    headOf !== undefined && "head",
    stubs?.first_line === true && "line",
  ];
  return styles.map((style) => (style === false ? "" : ` ${style}`)).join("");
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

/** The views without and with a compaction, the compactions before it, and the conversation's turns: at least the shown ones. */
interface RestoredFacts {
  readonly turns: ReadonlyMap<number, Turn>;
  readonly compactions: readonly Compaction[];
  readonly before: View;
  readonly after: View;
}

/**
 * Says which parts of calls that older compactions shortened or left out become visible again, a clause; null = none. Events kept by name
 * are meant to come back and do not count.
 */
export function describeRestored(
  { keep = [], tool_calls }: Pick<Compaction, "keep" | "tool_calls">,
  { turns, compactions, before, after }: RestoredFacts,
): string | null {
  if (tool_calls === undefined || compactions.every((older) => older.tool_calls === undefined)) return null;
  const was = new Map(callsIn(before).map((event) => [event.id, event]));
  const whole = new Set([...turns.values()].flatMap(({ events }) => events));
  const kept = new Set(keep);
  const back = callsIn(after).filter((event) => {
    const older = was.get(event.id);
    return older !== event && !kept.has(event.id) && (older === undefined || whole.has(event));
  });
  const parts = HALVES.flatMap(([type, name]) => {
    const count = back.filter((event) => event.type === type).length;
    return count === 0 ? [] : [`the ${name} of ${count} ${count === 1 ? "call" : "calls"}`];
  });
  return parts.length === 0 ? null : `${parts.join(" and ")}: for tool calls only the newest policy counts`;
}

const HALVES = [
  ["tool_call_request", "arguments"],
  ["tool_call_response", "results"],
] as const;

function callsIn({ turns }: View): readonly Event[] {
  return turns.flatMap(({ events }) => events.filter(({ type }) => HALVES.some(([half]) => half === type)));
}

// Why there is nothing to compact, and what to type: the plan is made again without each possible obstacle, and the first whose removal
// leads to a plan is the cause.

type Plan = (request: PlanInput) => CompactionPlan | Nothing;

/** Says that older compactions have removed everything they may, if so; else null. */
function explainByOlder(request: PlanInput, plan: Plan): Nothing | null {
  if (request.compactions.length === 0) return null;
  const { from, to } = request.range;
  // Both bounds at one place: nothing is between them, whatever was compacted.
  if (from?.type === "last" && to?.type === "last") return null;
  // Without the compactions the end would be elsewhere.
  const range = { ...request.range, ...freezeBounds({ to }, request) };
  if (isNothing(plan({ ...request, range, compactions: [] }))) return null;
  return {
    nothing: "everything that may be removed is already compacted",
    hints: [
      "`jpg log` lists the compactions; `jpg compact --keep 0` includes the newest turns, `--profile heavy` replaces turns with a summary.",
    ],
  };
}

/** Names the cause, with what to type if something helps; returns `found` if no cause is known. */
export function explainNothing(found: Nothing, request: PlanInput, plan: Plan): Nothing {
  const older = explainByOlder(request, plan);
  if (older !== null) return older;
  for (const { without, cause, hint } of causesOf(request)) {
    if (!isNothing(plan({ ...request, ...without }))) return { nothing: cause, hints: [hint] };
  }
  return found;
}

interface Cause {
  /** The request without this obstacle. */
  readonly without: Partial<PlanInput>;
  readonly cause: string;
  readonly hint: string;
}

function causesOf(request: PlanInput): readonly Cause[] {
  const { range, keep = [], hints } = request;
  const { to, protectTokens, ...rest } = range;
  const causes: Cause[] = [];
  if (protectTokens !== undefined && to === undefined) {
    causes.push({
      without: { range: rest },
      cause: `what could be removed is in the newest ${protectTokens} tokens, which are left alone`,
      hint: "`-s NAME:protect=N` leaves fewer tokens alone.",
    });
  }
  causes.push({
    without: { intoLoop: true },
    cause: "what could be removed is in the last turn, which is not finished",
    hint: "`jpg compact --keep 0` includes its answered calls; its reasoning stays, because the provider requires it.",
  });
  if (to === undefined) {
    causes.push({
      without: { range: { ...rest, keep: 0 } },
      cause: `what could be removed is in ${describeLeftAlone(request)}, left alone`,
      hint: "`jpg compact --keep 0` includes it.",
    });
  }
  if (keep.length > 0) {
    causes.push({
      without: { keep: [] },
      cause: "what could be removed is pinned",
      hint: "`jpg pin` lists the pins, `jpg pin --remove` removes one.",
    });
  }
  causes.push({
    without: { hints: {} },
    cause: "what could be removed is kept by the hints of its tools",
    hint: "`jpg config` lists the hints; `-c tools.NAME.compaction.response=strip` strips the results of a tool anyway.",
  });
  return hints === undefined ? causes.slice(0, -1) : causes;
}

/** What stays at the end of the conversation, in words. */
function describeLeftAlone({ range, turnCount }: PlanInput): string {
  const { keep, keepLast = DEFAULT_KEEP_LAST } = range;
  const newest = (count: number): string => (count === 1 ? "the newest turn" : `the newest ${count} turns`);
  if (keep !== undefined) return newest(keep);
  return turnCount <= keepLast ? `the newest ${KEEP_CALLS} tool calls` : newest(keepLast);
}

/** Says that nothing in a range is sent to a model, or that it is but may not be touched. */
export function nothingVisible({ from, to }: CutRange, { turnCount, turns }: PlanInput): Nothing {
  const last = turns.get(turnCount - 1)?.events ?? [];
  if (to < turnCount - 1 || unfinishedLoop(last) === null)
    return { nothing: `nothing of ${formatTurns(from, to)} is sent to a model` };
  return {
    nothing: `turn ${turnCount - 1} is not finished, so it is neither left out nor summarised`,
    hints: ["`jpg compact --keep 0` shortens its answered calls."],
  };
}

/** Says that policies would change nothing in a range. */
export function nothingChanged(range: EventRange, request: PlanInput, steps: readonly StepReport[]): Nothing {
  const { strategies, profile, strategyFacts } = request;
  const conditions = strategies?.uses.filter(({ isWanted }) => isWanted !== undefined) ?? [];
  if (strategies !== undefined && conditions.length > 0 && steps.length === 0) {
    return {
      nothing: `the view has about ${formatTokens(strategyFacts?.viewTokens ?? 0)} tokens, which is already within the target`,
      hints: ["`-s tiered:target=SIZE` asks for less: 20k, or 0.1 of the model's window."],
    };
  }
  const what = strategies?.names.join(", ") ?? (profile === undefined ? "these policies" : `profile ${profile}`);
  return {
    nothing: `${formatTurns(range.from, range.to)} hold nothing that ${what} would change`,
    hints: ["`jpg compact --profile heavy` replaces them with a summary."],
  };
}

function formatTurns(from: number, to: number): string {
  return `turns ${from}..${to}`;
}
