// Prepares a conversation for strategies: every call with the policy in force on its halves, by the projection's own rules, so that what is
// already stripped, omitted or hidden is neither counted nor chosen again.
import type { CallPolicy, Compaction } from "../../conversation/compaction.ts";
import type { Disposition } from "../../conversation/contents/content-type.ts";
import { planRanges } from "../../conversation/covered-range.ts";
import { type Event, type Turn, traitsOf } from "../../conversation/event.ts";
import { type EventRange, isInRange } from "../../conversation/range-location.ts";
import { type SurveyedTurn, surveyTurns } from "../../conversation/survey.ts";
import { type CallPairs, pairCalls, pairConversation } from "../../conversation/tool-pairing.ts";
import { findMechanicalWinner, findPartWinners } from "../../conversation/winner.ts";
import { USUAL_WINDOW } from "../../model/token-meter.ts";
import { listPairedCalls, type ToolCall } from "../tool-call.ts";
import { hintFor, type ToolCompactionHint } from "../tool-hints.ts";
import { isGone } from "./encode-decisions.ts";
import { findTied, type HalfState, type OpenEvent, type StrategyContext, type ViewedCall } from "./strategy.ts";

/** The conversation strategies are asked about, and facts about its tools. */
export interface ContextFacts {
  readonly turnCount: number;
  /** At least those of `planReading`. */
  readonly turns: ReadonlyMap<number, Turn>;
  readonly compactions: readonly Compaction[];
  readonly range: EventRange;
  /** Ids of events that stay unchanged. */
  readonly keep?: readonly string[];
  /** By tool name; `*` = every other tool. */
  readonly hints?: Readonly<Record<string, ToolCompactionHint>>;
  readonly subsumed?: ReadonlyMap<string, string>;
  readonly definedTools?: readonly string[];
  /** Names of the tools called anywhere in the conversation; absent = in the loaded turns. */
  readonly calledTools?: ReadonlySet<string>;
  readonly toolTokens?: ReadonlyMap<string, number>;
  /** Which call each result of all the turns answers, nothing hidden (`pairCalls`); absent = computed. */
  readonly pairs?: CallPairs;
  /** Context window of the conversation's model, tokens; default the usual one. */
  readonly windowTokens?: number;
}

/** Creates the context of strategies. Throws `turn_not_read` (internal) when a turn is missing. */
export function createStrategyContext(facts: ContextFacts): StrategyContext {
  const { turnCount, turns, compactions, range, hints = {} } = facts;
  const paired = pairConversation(turns, compactions);
  const survey = surveyTurns(planRanges(turnCount, compactions, paired.halves), turns, paired.placed);
  const seen = [...survey.turns.values()];
  const list = seen.map(({ turn }) => turn);
  const keep = new Set(facts.keep);
  const pairs = facts.pairs ?? (compactions.length > 0 ? paired.pairs : pairCalls(list, () => false));
  const read: Reading = { surveyed: survey.turns, pairs, range, keep, tied: findTied(list, keep) };
  const calls = listPairedCalls(list, pairs).map((call) => viewCall(call, read));
  const { open, hasOrphans } = listOpen(seen, read);
  const pruned = new Set(compactions.flatMap(({ tools }) => tools?.names ?? []));
  const resolved = new Map<string, ToolCompactionHint>();
  return {
    calls,
    open,
    hasOrphans,
    windowTokens: facts.windowTokens ?? USUAL_WINDOW,
    newestFirst: () => listNewest(seen, read),
    hintFor: (tool) => {
      const hint = resolved.get(tool) ?? hintFor(tool, hints);
      resolved.set(tool, hint);
      return hint;
    },
    subsumed: facts.subsumed ?? new Map(),
    definedTools: [...new Set(facts.definedTools)].filter((name) => !pruned.has(name)),
    toolTokens: facts.toolTokens ?? new Map(),
    calledTools: facts.calledTools ?? namesCalled(turns.values()),
  };
}

interface Reading {
  readonly surveyed: ReadonlyMap<number, SurveyedTurn>;
  readonly pairs: CallPairs;
  readonly range: EventRange;
  readonly keep: ReadonlySet<string>;
  readonly tied: ReadonlySet<string>;
}

function viewCall(call: ToolCall, read: Reading): ViewedCall {
  const { request, response, turn, index, responseIndex, responseTurn = turn } = call;
  return {
    ...call,
    requestState: stateAt(request, turn, index, read),
    isTied: read.tied.has(request.id),
    responseState: response === null ? null : stateAt(response, responseTurn, responseIndex ?? 0, read),
  };
}

function stateAt(event: Event, turn: number, index: number, read: Reading): HalfState {
  const isCovered = isInRange(read.range, turn, index) && !read.keep.has(event.id);
  const disposition = dispositionAt(event, turn, index, read);
  const now = effectivePolicy(disposition);
  const parts = isGone({ now }) ? [] : findPartWinners(read.surveyed.get(turn)?.locals ?? [], event, index);
  if (now === undefined && parts.length === 0) return isCovered ? OPEN : CLOSED;
  const stubs = now === "strip" ? disposition?.compaction.stubs : undefined;
  const isOpen = isCovered && !isGone({ now });
  return { now, isCovered, isOpen, stubs, ...(parts.length === 0 ? {} : { parts }) };
}

/** Events shown unchanged, covered and not. */
const OPEN: HalfState = { now: undefined, isCovered: true, isOpen: true };
const CLOSED: HalfState = { now: undefined, isCovered: false, isOpen: false };

function dispositionAt(event: Event, turn: number, index: number, { surveyed, pairs }: Reading): Disposition | null {
  const seen = surveyed.get(turn);
  if (seen === undefined || seen.locals.length === 0) return null;
  const hider = seen.hiders[index] ?? null;
  if (hider !== null) return { compaction: hider.compaction, content: "hiding", action: "hide" };
  return findMechanicalWinner(seen.locals, event, index, pairs);
}

function effectivePolicy(disposition: Disposition | null): CallPolicy | "hide" | undefined {
  return disposition === null || disposition.action === "keep" ? undefined : disposition.action;
}

function listOpen(seen: readonly SurveyedTurn[], read: Reading): Pick<StrategyContext, "open" | "hasOrphans"> {
  const open: OpenEvent[] = [];
  let hasOrphans = false;
  for (const { turn } of seen) {
    for (let index = 0; index < turn.events.length; index++) {
      const event = turn.events[index];
      if (event === undefined || !traitsOf(event).providerVisible) continue;
      const state = stateAt(event, turn.index, index, read);
      if (!state.isCovered || state.now === "hide") continue;
      hasOrphans ||= event.type === "tool_call_response" && !read.pairs.has(event);
      if (state.isOpen) open.push(openEvent(event, state, read.pairs));
    }
  }
  return { open, hasOrphans };
}

function* listNewest(seen: readonly SurveyedTurn[], read: Reading): Generator<OpenEvent> {
  for (const { turn } of seen.toReversed()) {
    for (let index = turn.events.length - 1; index >= 0; index--) {
      const event = turn.events[index];
      if (event === undefined || !traitsOf(event).providerVisible) continue;
      const state = stateAt(event, turn.index, index, read);
      if (!isGone(state)) yield openEvent(event, state, read.pairs);
    }
  }
}

function openEvent(event: Event, state: HalfState, pairs: CallPairs): OpenEvent {
  const tool = event.type === "tool_call_response" ? pairs.get(event)?.name : undefined;
  return tool === undefined ? { event, state } : { event, state, tool };
}

/** The names of all tools that turns call. */
export function namesCalled(turns: Iterable<Turn>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { events } of turns)
    for (const event of events) if (event.type === "tool_call_request") names.add(event.name);
  return names;
}
