// Which calls and results of a view are sent, and under which ids: every call answered once, every result asked for, ids
// unique and well-formed. What providers do differently is data; ids change only where they must, always in the same way.
import type { Event, ToolCallRequest, ToolCallResponse } from "../event/event.ts";
import { pairCalls } from "../event/tool-pairing.ts";
import type { View } from "../projection/view.ts";
import type { HardeningStep } from "./thread.ts";

/** The result of a call that was still running when the conversation stopped. */
export const INTERRUPTED_RESULT = "[Tool call interrupted: no result was recorded, its outcome is unknown.]";

export interface CallPlan {
  /** Result of each call, `null` for a call that gets a synthetic one; calls that are left out are absent. */
  readonly results: ReadonlyMap<ToolCallRequest, ToolCallResponse | null>;
  /** The call each result answers; results that are left out are absent. */
  readonly calls: ReadonlyMap<ToolCallResponse, ToolCallRequest>;
  /** Position of each result that is sent, in the order in which results were recorded. */
  readonly order: ReadonlyMap<ToolCallResponse, number>;
  /** The id a call and its result are sent under. */
  readonly ids: ReadonlyMap<ToolCallRequest, string>;
  readonly hardening: readonly HardeningStep[];
}

/** Gives a call the id it is sent under; `isUsed` knows the ids of the calls before it. */
export type AssignId = (
  call: ToolCallRequest,
  isUsed: (id: string) => boolean,
) => { readonly id: string /** rules that made it change */; readonly rules: readonly string[] };

/** What a provider wants of calls and results. */
export interface CallRules {
  /** Which calls without a result get a synthetic one; the others are left out. */
  readonly answers: "newest" | "all";
  readonly assignId: AssignId;
  /** Rule ids for the list of steps. */
  readonly rules: {
    /** A call without a result was left out. */
    readonly unanswered: string;
    /** A result without a call was left out. */
    readonly unasked: string;
    /** A further result of an answered call was left out. */
    readonly repeated: string;
  };
}

/** Plans the calls of a view. */
export function planProviderCalls(view: View, provider: CallRules): CallPlan {
  const turns = view.turns.map((turn, index) => ({ index, events: turn.events }));
  const calls = pairCalls(turns, () => false);
  const answered = new Map<ToolCallRequest, ToolCallResponse>();
  const answeredIds = new Set<string>();
  const order = new Map<ToolCallResponse, number>();
  for (const [result, call] of calls) {
    answered.set(call, result);
    answeredIds.add(call.call_id);
    order.set(result, order.size);
  }
  const events = view.turns.flatMap((turn) => turn.events);
  const newest = provider.answers === "newest" ? newestMessage(events) : null;
  const results = new Map<ToolCallRequest, ToolCallResponse | null>();
  const hardening: HardeningStep[] = [];
  const { unanswered, unasked, repeated } = provider.rules;
  for (const event of events) {
    if (event.type === "tool_call_request") {
      const result = answered.get(event) ?? null;
      if (result !== null || newest === null || newest.has(event)) results.set(event, result);
      else hardening.push({ rule: unanswered, event: event.id, action: "dropped" });
    } else if (event.type === "tool_call_response" && !calls.has(event)) {
      const rule = answeredIds.has(event.call_id) ? repeated : unasked;
      hardening.push({ rule, event: event.id, action: "dropped" });
    }
  }
  return { results, calls, order, ids: assignIds(results.keys(), provider.assignId, hardening), hardening };
}

/** The events of the newest assistant message: those with its message id, or what follows the last request without one. */
function newestMessage(events: readonly Event[]): ReadonlySet<Event> {
  const last = events.findLastIndex(isAssistant);
  const messageId = events[last]?.metadata?.message_id;
  const newest = new Set<Event>();
  for (let at = last; at >= 0; at--) {
    const event = events[at] as Event;
    if (event.type === "chat_request") break;
    if (!isAssistant(event)) continue;
    if (event.metadata?.message_id !== messageId) break;
    newest.add(event);
  }
  return newest;
}

function isAssistant(event: Event): boolean {
  return event.type === "chat_response" || event.type === "tool_call_request";
}

function assignIds(
  calls: Iterable<ToolCallRequest>,
  assignId: AssignId,
  hardening: HardeningStep[],
): ReadonlyMap<ToolCallRequest, string> {
  const ids = new Map<ToolCallRequest, string>();
  const used = new Set<string>();
  for (const call of calls) {
    const { id, rules } = assignId(call, (other) => used.has(other));
    for (const rule of rules) hardening.push({ rule, event: call.id, action: "changed" });
    used.add(id);
    ids.set(call, id);
  }
  return ids;
}

/** The id itself, or with the first number after it that makes it unused; never longer than `max` characters. */
export function unusedId(id: string, max: number, isUsed: (id: string) => boolean): string {
  let candidate = id;
  for (let count = 2; isUsed(candidate); count++) candidate = `${id.slice(0, max - String(count).length - 1)}_${count}`;
  return candidate;
}
