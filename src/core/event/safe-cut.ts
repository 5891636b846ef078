// Where a range may end inside a turn: never between a tool call and its result, never inside one assistant message, and
// before a tool loop that is not finished, so that what the model is working on reaches it unchanged.
import { type Event, traitsOf } from "../event/event.ts";

/**
 * Finds the last place at or before `index` (0-based; the range would end with events[index]) where a range may end.
 * Gives -1 when the range may not reach into the turn at all. The end of the turn is always safe.
 */
export function lastSafeCut(events: readonly Event[], index: number): number {
  return listSafeCuts(events).findLast((cut) => cut <= index) ?? -1;
}

/** Finds the first place at or after `index` where a range may begin; events.length when there is none in the turn. */
export function firstSafeStart(events: readonly Event[], index: number): number {
  if (index <= 0) return 0;
  return (listSafeCuts(events).find((cut) => cut >= index - 1) ?? events.length - 1) + 1;
}

/** Lists the positions (0-based) after which a range may end, ascending: nothing before them belongs to what follows. The last is the end. */
export function listSafeCuts(events: readonly Event[]): readonly number[] {
  const cuts: number[] = [];
  let furthest = -1;
  for (const [index, reach] of reachOf(events).entries()) {
    furthest = Math.max(furthest, reach);
    if (furthest <= index) cuts.push(index);
  }
  return cuts;
}

/** For each event the position of the last event that must stay on its side: its call's result, the end of its message. */
function reachOf(events: readonly Event[]): readonly number[] {
  const reach = events.map((_, index) => index);
  const open = new Map<string, number[]>();
  const messageStart = new Map<string, number>();
  for (const [index, event] of events.entries()) {
    if (event.type === "tool_call_request") {
      const waiting = open.get(event.call_id);
      if (waiting === undefined) open.set(event.call_id, [index]);
      else waiting.push(index);
    } else if (event.type === "tool_call_response") {
      const call = open.get(event.call_id)?.shift();
      if (call !== undefined) reach[call] = index;
    }
    const message = event.metadata?.message_id;
    if (message === undefined) continue;
    const start = messageStart.get(message);
    if (start === undefined) messageStart.set(message, index);
    else reach[start] = index;
  }
  return reach;
}

/**
 * Finds where an unfinished tool loop begins in the newest turn: the position of the user's last request in it (0 when it
 * has none), or null when the turn ends in an assistant's message. What the harness put after that message does not count.
 */
export function unfinishedLoop(events: readonly Event[]): number | null {
  const last = events.findLast((event) => traitsOf(event).providerVisible && !isHarness(event));
  if (last === undefined) return null;
  if (last.type === "chat_response" && last.reasoning === undefined) return null;
  return Math.max(0, events.findLastIndex(isUserRequest));
}

function isHarness(event: Event): boolean {
  return event.type === "chat_request" && event.metadata?.origin === "harness";
}

function isUserRequest(event: Event): boolean {
  return event.type === "chat_request" && (event.role ?? "user") === "user" && !isHarness(event);
}
