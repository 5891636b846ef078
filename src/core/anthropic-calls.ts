// Tool calls and results as the Anthropic Messages API wants them: every call answered once, every result asked for, ids
// unique and well-formed (rules A1, A2, A6–A8). Ids change only where they must, and always in the same way.
import type { Event, ToolCallRequest, ToolCallResponse } from "./event.ts";
import type { HardeningStep } from "./thread.ts";
import { pairCalls } from "./tool-pairing.ts";
import type { View } from "./view.ts";

/** Longest id the API takes, in characters (A8). */
const MAX_ID = 64;

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

/** Plans the calls of a view. An unanswered call of the newest assistant message gets an error as its result, others go. */
export function planCalls(view: View): CallPlan {
  const turns = view.turns.map((turn, index) => ({ index, events: turn.events }));
  const calls = pairCalls(turns, () => false);
  const answered = new Map([...calls].map(([result, call]) => [call, result] as const));
  const answeredIds = new Set([...answered.keys()].map((call) => call.call_id));
  const newest = newestMessage(view);
  const results = new Map<ToolCallRequest, ToolCallResponse | null>();
  const hardening: HardeningStep[] = [];
  for (const event of view.turns.flatMap((turn) => turn.events)) {
    if (event.type === "tool_call_request") planCall(event, { answered, newest, results, hardening });
    else if (event.type === "tool_call_response" && !calls.has(event)) {
      hardening.push({ rule: answeredIds.has(event.call_id) ? "A7" : "A2", event: event.id, action: "dropped" });
    }
  }
  const order = new Map([...calls.keys()].map((result, position) => [result, position] as const));
  return { results, calls, order, ids: assignIds(results, hardening), hardening };
}

interface CallPlanning {
  readonly answered: ReadonlyMap<ToolCallRequest, ToolCallResponse>;
  readonly newest: ReadonlySet<Event>;
  readonly results: Map<ToolCallRequest, ToolCallResponse | null>;
  readonly hardening: HardeningStep[];
}

function planCall(call: ToolCallRequest, { answered, newest, results, hardening }: CallPlanning): void {
  const result = answered.get(call);
  if (result !== undefined) results.set(call, result);
  else if (newest.has(call)) results.set(call, null);
  else hardening.push({ rule: "A1", event: call.id, action: "dropped" });
}

/** The events of the newest assistant message: those with its message id, or what follows the last request without one. */
function newestMessage(view: View): ReadonlySet<Event> {
  const events = view.turns.flatMap((turn) => turn.events);
  const last = events.findLastIndex(isAssistant);
  const messageId = events[last]?.metadata?.message_id;
  const newest = new Set<Event>();
  for (const event of events.slice(0, last + 1).toReversed()) {
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
  calls: ReadonlyMap<ToolCallRequest, unknown>,
  hardening: HardeningStep[],
): ReadonlyMap<ToolCallRequest, string> {
  const ids = new Map<ToolCallRequest, string>();
  const used = new Set<string>();
  for (const call of calls.keys()) {
    const valid = call.call_id.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, MAX_ID) || "call";
    const id = unusedId(valid, used);
    if (valid !== call.call_id) hardening.push({ rule: "A8", event: call.id, action: "changed" });
    if (id !== valid) hardening.push({ rule: "A6", event: call.id, action: "changed" });
    used.add(id);
    ids.set(call, id);
  }
  return ids;
}

function unusedId(id: string, used: ReadonlySet<string>): string {
  let candidate = id;
  for (let count = 2; used.has(candidate); count++)
    candidate = `${id.slice(0, MAX_ID - String(count).length - 1)}_${count}`;
  return candidate;
}
