// What a step takes out of the view, counted event by event: the numbers of the report (RFD 036).
import { stubAttachments } from "../../conversation/attachment.ts";
import type { CallPolicy, Compaction, StubStyle } from "../../conversation/compaction.ts";
import { type Event, isReasoning, type ToolCallRequest } from "../../conversation/event.ts";
import { estimateEvent } from "../../conversation/token-estimate.ts";
import { shortenEvent } from "../../conversation/tool-stub.ts";
import type { CallDecision, HalfState, OpenEvent, StrategyContext, StrategyStep, ViewedCall } from "./strategy.ts";

/** What is shown of something; tokens are an estimate. */
export interface Shown {
  readonly events: number;
  readonly tokens: number;
}

export const NOTHING_SHOWN: Shown = { events: 0, tokens: 0 };

/** Counts what a call loses when one decision about it takes the place of another; what both say alike is not looked at. */
export function takenFromCall(
  { request, response, requestState, responseState }: ViewedCall,
  before: CallDecision,
  after: CallDecision,
  stubs: StubStyle | undefined,
): Shown {
  const headOf = (decision: CallDecision): ToolCallRequest | undefined =>
    stubs?.heads === true && decision.request === "strip" ? request : undefined;
  const take = (event: Event, state: HalfState, half: keyof CallDecision): Shown => {
    if (before[half] === after[half] && headOf(before) === headOf(after)) return NOTHING_SHOWN;
    const reading = { tool: request.name, state, stubs };
    const shown = shownOf(event, { ...reading, policy: before[half], headOf: headOf(before) });
    return add(shown, shownOf(event, { ...reading, policy: after[half], headOf: headOf(after) }), -1);
  };
  const asked = take(request, requestState, "request");
  if (response === null || responseState === null) return asked;
  return add(asked, take(response, responseState, "response"));
}

/** What a step says of other things than calls; undefined = nothing. */
export type Spoken = { readonly [Field in "reasoning" | "attachments" | "turns"]: StrategyStep[Field] | undefined };

/** Counts what the policies of a step for reasoning, attachments and turns take out. */
export function takenBy(spoken: Spoken, { open }: StrategyContext): Shown {
  let taken = NOTHING_SHOWN;
  for (const { event, state, tool } of open) {
    const left = leftOf(event, spoken);
    if (left === event) continue;
    const shown = shownOf(event, { tool, state, policy: undefined, stubs: undefined });
    const stays = left === null ? NOTHING_SHOWN : { events: 1, tokens: estimateEvent(left) };
    taken = add(taken, add(shown, stays, -1));
  }
  return taken;
}

/** What is left of an event; null = nothing. */
function leftOf(event: Event, { reasoning, attachments, turns }: Spoken): Event | null {
  if (turns === "omit" || (reasoning === "strip" && isReasoning(event))) return null;
  return attachments === "strip" && event.type === "chat_request" ? stubAttachments(event) : event;
}

/** Adds up, with a factor for the second. */
export function add(a: Shown, b: Shown, factor = 1): Shown {
  return { events: a.events + factor * b.events, tokens: a.tokens + factor * b.tokens };
}

/** Tokens of what is shown of an event that a strategy may speak of, an estimate. */
export function shownTokens({ event, tool, state }: OpenEvent): number {
  return shownOf(event, { tool, state, policy: undefined, stubs: undefined }).tokens;
}

interface Reading {
  /** Undefined for a result without a call, and what is no result. */
  readonly tool: string | undefined;
  readonly state: HalfState;
  readonly policy: CallPolicy | undefined;
  /** Style of the planned compaction's stubs. */
  readonly stubs: StubStyle | undefined;
  /** The call of which a stub of the planned compaction shows the head. */
  readonly headOf?: ToolCallRequest | undefined;
}

function shownOf(event: Event, { tool, state, policy, stubs, headOf }: Reading): Shown {
  const action = policy ?? state.now;
  if (action === undefined) return { events: 1, tokens: estimateEvent(event) };
  const style = policy === undefined ? state.stubs : stubs;
  const compaction: Compaction = style === undefined ? PLAIN : { ...PLAIN, stubs: style };
  const head = policy === undefined || headOf === undefined ? {} : { headOf };
  const shown = shortenEvent(event, { action, compaction, ...head }, { tool });
  return shown === null ? NOTHING_SHOWN : { events: 1, tokens: estimateEvent(shown) };
}

/** A compaction of which only the style of its stubs counts. */
const PLAIN: Compaction = { type: "compaction", id: "", timestamp: "", from_turn: 0, to_turn: 0 };
