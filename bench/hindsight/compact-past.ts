// Compacts the past of a cut as jpg does, in memory: strategies and profiles are planned over all but the newest tokens, also
// inside a loop of calls that is not finished, as `--force` and automatic compaction do; an extract replaces the same range.

import { extractSummary } from "../../src/core/compact/extract.ts";
import { indexHidden } from "../../src/core/compact/hidden-index.ts";
import { type CompactionDraft, planCompaction } from "../../src/core/compact/plan.ts";
import { findContainedReads } from "../../src/core/compact/shown-lines.ts";
import { choosePipelines, PROTECT_TOKENS, parseTarget } from "../../src/core/compact/strategies/pipelines.ts";
import { listToolCalls } from "../../src/core/compact/tool-call.ts";
import { DEFAULT_TOOL_HINTS } from "../../src/core/compact/tool-hints.ts";
import { isNothing, type RangeRequest, resolveBounds } from "../../src/core/conversation/bound-resolution.ts";
import { type Compaction, EXTRACTIVE, type StubStyle } from "../../src/core/conversation/compaction.ts";
import { parseToolCallPolicy } from "../../src/core/conversation/contents/tool-calls.ts";
import { toolsDefinedIn } from "../../src/core/conversation/defined-tools.ts";
import { type Event, INDEX_ORIGIN, type Turn } from "../../src/core/conversation/event.ts";
import { BUILT_IN_PROFILES, type Policies } from "../../src/core/conversation/policy.ts";
import { projectTurns } from "../../src/core/conversation/projection.ts";
import { cutRangeOf, isInRange, locateRange } from "../../src/core/conversation/range-location.ts";
import { estimateEvents } from "../../src/core/conversation/token-estimate.ts";
import { USUAL_WINDOW } from "../../src/core/model/token-meter.ts";
import { visibleEvents } from "./stretch.ts";

/** A conversation that is compacted. */
export interface Conversation {
  readonly turns: readonly Turn[];
  /** Those in force. */
  readonly compactions: readonly Compaction[];
}

/** What is done to it. */
export interface Treatment {
  /** Strategies or a pipeline. */
  readonly strategies?: readonly string[];
  /** For `tiered`. */
  readonly target?: string;
  /** Policies of a profile, in place of strategies. */
  readonly policies?: Policies;
  readonly stubs?: StubStyle;
  /** An extract for all but the newest tokens, after the strategies: of the usual length, or of so many tokens. */
  readonly extract?: "usual" | number;
  /** Newest tokens that are left alone; absent = as many as jpg leaves. */
  readonly newestTokens?: number;
  /** Context window of the model; absent = the usual one. */
  readonly windowTokens?: number;
}

/** What an extract leaves alone of a small window, as `auto` does. */
const WHOLE_SHARE = 0.1;

/** Gives the compactions that are in force after a treatment, the given ones among them; the same list where it finds nothing. */
export function compact(conversation: Conversation, treatment: Treatment): readonly Compaction[] {
  const { turns } = conversation;
  let { compactions } = conversation;
  if (treatment.strategies !== undefined || treatment.policies !== undefined)
    compactions = withDraft(compactions, planMechanical({ turns, compactions }, treatment));
  if (treatment.extract !== undefined)
    compactions = withDraft(compactions, extractOver({ turns, compactions }, treatment.extract, treatment));
  return compactions;
}

/** Gives the events that a model is sent. */
export function viewOf({ turns, compactions }: Conversation): readonly Event[] {
  return visibleEvents(projectTurns(turns, compactions).turns);
}

/** Adds the index of what a view hides, as new compactions carry one; in which place makes no difference here. */
export function withIndex(turns: readonly Turn[], view: readonly Event[]): readonly Event[] {
  const index = indexHidden({ turns, shown: view });
  const [first] = visibleEvents(turns);
  if (index === null || first === undefined) return view;
  const { timestamp } = first;
  return [
    ...view,
    { type: "chat_request", id: "index", timestamp, content: index.text, metadata: { origin: INDEX_ORIGIN } },
  ];
}

/** The mechanical policies of a profile that comes with jpg. */
export function policiesOf(profile: string): Policies {
  const { reasoning, tool_calls } = BUILT_IN_PROFILES[profile] ?? {};
  return {
    ...(reasoning === "strip" && { reasoning }),
    ...(tool_calls !== undefined && { tool_calls: parseToolCallPolicy(tool_calls, profile) }),
  };
}

function planMechanical(
  { turns, compactions }: Conversation,
  { strategies, target = "0.5", policies = {}, stubs, newestTokens, windowTokens }: Treatment,
): CompactionDraft | null {
  const chosen = strategies === undefined ? undefined : choosePipelines(strategies, {}, parseTarget(target));
  const plan = planCompaction({
    range: rangeOf(newestTokens ?? chosen?.protectTokens),
    intoLoop: true,
    turnCount: turns.length,
    turns: byPosition(turns),
    turnTimes: [],
    compactions,
    now: timeOf(compactions.length),
    policies,
    hints: DEFAULT_TOOL_HINTS,
    ...(stubs === undefined ? {} : { stubs }),
    ...(chosen === undefined
      ? {}
      : {
          strategies: chosen,
          strategyFacts: {
            ...(windowTokens === undefined ? {} : { windowTokens }),
            viewTokens: estimateEvents(viewOf({ turns, compactions })),
            definedTools: toolsDefinedIn(turns.flatMap(({ events }) => events)),
            subsumed: findContainedReads(listToolCalls(turns).filter(({ response }) => response !== null)),
          },
        }),
  });
  return isNothing(plan) ? null : plan.compaction;
}

/** As an agent's own compaction it may end inside a turn, where jpg's would end before the loop: summaries are compared by what they say. */
function extractOver(
  { turns, compactions }: Conversation,
  length: "usual" | number,
  { newestTokens, windowTokens = USUAL_WINDOW }: Treatment,
): CompactionDraft | null {
  const facts = { turnCount: turns.length, turns: byPosition(turns), turnTimes: [], compactions, now: "" };
  const newest = Math.min(PROTECT_TOKENS, WHOLE_SHARE * windowTokens);
  const bounds = resolveBounds(rangeOf(newestTokens ?? newest), facts);
  if (isNothing(bounds)) return null;
  const range = locateRange(bounds, { ...facts, touchesRequests: true, intoLoop: true });
  if (range === null) return null;
  const events = turns.flatMap(({ index: turn, events: all }) =>
    all.flatMap((event, index) => (isInRange(range, turn, index) ? [{ turn, event }] : [])),
  );
  const { summary } = extractSummary(events, length === "usual" ? {} : { budgetTokens: length });
  const { from, fromEvent, to, toEvent } = cutRangeOf(range, facts);
  return {
    type: "compaction",
    from_turn: from,
    to_turn: to,
    ...(fromEvent === undefined ? {} : { from_event: fromEvent }),
    ...(toEvent === undefined ? {} : { to_event: toEvent }),
    summary: { summary, source: EXTRACTIVE, model: EXTRACTIVE },
  };
}

/** All but the newest tokens. */
function rangeOf(protectTokens: number = PROTECT_TOKENS): RangeRequest {
  return { keep: 0, protectTokens };
}

function withDraft(compactions: readonly Compaction[], draft: CompactionDraft | null): readonly Compaction[] {
  if (draft === null) return compactions;
  const number = compactions.length;
  return [...compactions, { ...draft, id: `compaction-${String(number).padStart(4, "0")}`, timestamp: timeOf(number) }];
}

/** Later than any session, each a second after the one before. */
function timeOf(number: number): string {
  return new Date(Date.UTC(2100, 0, 1) + number * 1000).toISOString();
}

function byPosition(turns: readonly Turn[]): ReadonlyMap<number, Turn> {
  return new Map(turns.map((turn) => [turn.index, turn]));
}
