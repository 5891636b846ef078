// What a step takes out of the view, counted event by event: the numbers of the report (RFD 036).
import type { CallPolicy, Compaction, StripPolicies, StubStyle } from "../../conversation/compaction.ts";
import { mapPolicies } from "../../conversation/contents/content-types.ts";
import type { Event } from "../../conversation/event.ts";
import { shortenEvent, shortenParts } from "../../conversation/shorten-event.ts";
import { estimateEvent } from "../../conversation/token-estimate.ts";
import type { CallDecision, HalfState, OpenEvent, StrategyContext, StrategyStep, ViewedCall } from "./strategy.ts";

/** What is shown of something; tokens are an estimate. */
export interface Shown {
  readonly events: number;
  readonly tokens: number;
}

export const NOTHING_SHOWN: Shown = { events: 0, tokens: 0 };

/** Counts what a call loses when one decision about it replaces another; equal halves are skipped. */
export function removedFromCall(
  { request, response, requestState, responseState }: ViewedCall,
  before: CallDecision,
  after: CallDecision,
  { stubs, spoken }: { readonly stubs: StubStyle | undefined; readonly spoken: NonCallPolicies },
): Shown {
  const take = (event: Event, state: HalfState, half: keyof CallDecision): Shown => {
    if (before[half] === after[half]) return NOTHING_SHOWN;
    const reading = { tool: request.name, state, stubs };
    const sizeUnder = (decision: CallDecision): Shown => {
      const shown = shownEvent(event, { ...reading, policy: decision[half] });
      return sizeOf(shown === null ? null : applyPolicies(shown, spoken));
    };
    return add(sizeUnder(before), sizeUnder(after), -1);
  };
  const asked = take(request, requestState, "request");
  if (response === null || responseState === null) return asked;
  return add(asked, take(response, responseState, "response"));
}

/** The policies of a step for anything but calls; undefined = none. */
export type NonCallPolicies = Pick<StrategyStep, keyof StripPolicies | "turns">;

/** Counts what these policies of a step take out of what `earlier` steps leave; `decidedOf` = the decision about a result. */
export function removedByPolicies(
  spoken: NonCallPolicies,
  { open }: StrategyContext,
  {
    earlier,
    decidedOf,
    stubs,
  }: {
    readonly earlier: NonCallPolicies;
    readonly decidedOf: (event: Event) => CallPolicy | undefined;
    readonly stubs: StubStyle | undefined;
  },
): Shown {
  const both = { ...earlier, ...spoken, turns: spoken.turns ?? earlier.turns };
  let taken = NOTHING_SHOWN;
  for (const { event, state, tool } of open) {
    if (applyPolicies(event, spoken) === event) continue;
    const shown = shownEvent(event, { tool, state, stubs, policy: decidedOf(event) });
    const sizeUnder = (policies: NonCallPolicies): Shown =>
      sizeOf(shown === null ? null : applyPolicies(shown, policies));
    taken = add(taken, add(sizeUnder(earlier), sizeUnder(both), -1));
  }
  return taken;
}

/** Returns what policies leave of an event; null = nothing. An unchanged event is returned as the same object. */
export function applyPolicies(event: Event, { turns, ...policies }: NonCallPolicies): Event | null {
  if (turns === "omit") return null;
  let left: Event | null = event;
  for (const { projected } of mapPolicies(policies, (type) => type)) {
    if (left === null || projected === undefined || projected.contentOf(left) === null) continue;
    left = projected.shorten(left, "strip", { compaction: PLAIN, context: {} });
  }
  return left;
}

/** Adds two sizes, the second multiplied by a factor. */
export function add(a: Shown, b: Shown, factor = 1): Shown {
  return { events: a.events + factor * b.events, tokens: a.tokens + factor * b.tokens };
}

/** Estimated tokens of what is shown of an event that a strategy may change. */
export function shownTokens(open: OpenEvent): number {
  return sizeOf(shownNow(open)).tokens;
}

/** Returns what is shown of an event that a strategy may change; null = nothing. */
export function shownNow({ event, tool, state }: OpenEvent): Event | null {
  return shownEvent(event, { tool, state, policy: undefined, stubs: undefined });
}

function sizeOf(shown: Event | null): Shown {
  return shown === null ? NOTHING_SHOWN : { events: 1, tokens: estimateEvent(shown) };
}

interface Reading {
  /** Undefined for a result without a call, and for other events. */
  readonly tool: string | undefined;
  readonly state: HalfState;
  readonly policy: CallPolicy | undefined;
  /** Style of the planned compaction's stubs. */
  readonly stubs: StubStyle | undefined;
}

function shownEvent(event: Event, { tool, state, policy, stubs }: Reading): Event | null {
  const action = policy ?? state.now;
  const style = policy === undefined ? state.stubs : stubs;
  const compaction: Compaction = style === undefined ? PLAIN : { ...PLAIN, stubs: style };
  const shown = action === undefined ? event : shortenEvent(event, { action, compaction }, { tool });
  return shown === null ? null : shortenParts(shown, state.parts ?? []);
}

/** A compaction of which only the style of its stubs counts. */
const PLAIN: Compaction = { type: "compaction", id: "", timestamp: "", from_turn: 0, to_turn: 0 };
