// Which call a tool result answers. Call ids repeat across turns, so pairs are made per turn and by count; only a result
// without a call in its own turn looks back.
import type { Event, ToolCallRequest, ToolCallResponse } from "./event.ts";
import type { Turn } from "./turn.ts";

/** The call that each result answers; results without one are absent. Keys are the event objects of the turns given. */
export type CallPairs = ReadonlyMap<ToolCallResponse, ToolCallRequest>;

/** The pairs of a conversation without tool calls. */
export const NO_PAIRS: CallPairs = new Map();

/**
 * Pairs results with calls. Inside a turn the first result of a call id answers its first call, the second its second; a
 * result left over takes the nearest unanswered call with its id of an earlier turn. `isHidden(turn, index)` tells
 * whether an event is hidden (index = position in the turn's events, 0-based): hidden ones pair inside their turn only,
 * which makes the pairs the same whether hidden turns were read or not.
 */
export function pairCalls(turns: Iterable<Turn>, isHidden: (turn: number, index: number) => boolean): CallPairs {
  const pairs = new Map<ToolCallResponse, ToolCallRequest>();
  const earlier = new Map<string, ToolCallRequest[]>();
  for (const turn of turns) pairTurn(turn, { pairs, earlier, isHidden });
  return pairs;
}

/** Which halves of calls among a turn's events have no other half there: that may be in another turn. */
export function looseCalls(events: readonly Event[]): { readonly request: boolean; readonly response: boolean } {
  const open = new Map<string, number>();
  let response = false;
  for (const event of events) {
    if (event.type !== "tool_call_request" && event.type !== "tool_call_response") continue;
    const count = (open.get(event.call_id) ?? 0) + (event.type === "tool_call_request" ? 1 : -1);
    response ||= count < 0;
    open.set(event.call_id, Math.max(count, 0));
  }
  return { request: [...open.values()].some((count) => count > 0), response };
}

/** Whether a call or a result of a turn has no other half there. */
export function hasLooseCalls({ events }: Pick<Turn, "events">): boolean {
  const { request, response } = looseCalls(events);
  return request || response;
}

/** A call not answered yet; `index` = its position in the turn's events, 0-based. */
interface OpenCall {
  readonly request: ToolCallRequest;
  readonly index: number;
}

interface Pairing {
  readonly pairs: Map<ToolCallResponse, ToolCallRequest>;
  /** Unanswered calls of earlier turns by call id, oldest first. */
  readonly earlier: Map<string, ToolCallRequest[]>;
  readonly isHidden: (turn: number, index: number) => boolean;
}

function pairTurn(turn: Turn, { pairs, earlier, isHidden }: Pairing): void {
  const open = new Map<string, OpenCall[]>();
  let index = -1;
  for (const event of turn.events) {
    index += 1;
    if (event.type === "tool_call_request") addTo(open, event.call_id, { request: event, index });
    if (event.type !== "tool_call_response") continue;
    const own = open.get(event.call_id)?.shift()?.request;
    const request = own ?? (isHidden(turn.index, index) ? undefined : earlier.get(event.call_id)?.pop());
    if (request !== undefined) pairs.set(event, request);
  }
  for (const { request, index } of [...open.values()].flat()) {
    if (!isHidden(turn.index, index)) addTo(earlier, request.call_id, request);
  }
}

function addTo<Item>(lists: Map<string, Item[]>, key: string, item: Item): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}
