// Which call a tool result answers. Call ids repeat across turns, so pairs are made per turn and by count; only a result
// without a call in its own turn looks back.
import type { Compaction } from "./compaction.ts";
import { type Event, type ToolCallRequest, type ToolCallResponse, type Turn, traitsOf } from "./event.ts";

/** The call that each result answers; results without one are absent. Keys are the event objects of the turns given. */
export type CallPairs = ReadonlyMap<ToolCallResponse, ToolCallRequest>;

/** The pairs of a conversation without tool calls. */
export const NO_PAIRS: CallPairs = new Map();

/**
 * Pairs results with calls. Inside a turn the first result of a call id answers its first call, the second its second; a
 * further result takes the nearest unanswered call with its id of an earlier turn. `isHidden(turn, index)` (index = position in
 * the turn's events, 0-based): hidden events pair inside their turn only, so the pairs do not depend on whether hidden turns
 * were read.
 */
export function pairCalls(turns: Iterable<Turn>, isHidden: (turn: number, index: number) => boolean): CallPairs {
  const pairs = new Map<ToolCallResponse, ToolCallRequest>();
  const earlier = new Map<string, ToolCallRequest[]>();
  for (const turn of turns) pairTurn(turn, { pairs, earlier, isHidden });
  return pairs;
}

/** Whether a turn's events contain a call or a result without its other half: that may be in another turn. */
export function unpairedCalls(events: readonly Event[]): { readonly request: boolean; readonly response: boolean } {
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
export function hasUnpairedCalls({ events }: Pick<Turn, "events">): boolean {
  const { request, response } = unpairedCalls(events);
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

/**
 * Finds the last place at or before `index` (0-based; the range would end with events[index]) where a range may end; -1 when
 * the range may not reach into the turn at all. The end of the turn is always safe.
 */
export function lastSafeCut(events: readonly Event[], index: number): number {
  return listSafeCuts(events).findLast((cut) => cut <= index) ?? -1;
}

/** Finds the first place at or after `index` where a range may begin; events.length when there is none in the turn. */
export function firstSafeStart(events: readonly Event[], index: number): number {
  if (index <= 0) return 0;
  return (listSafeCuts(events).find((cut) => cut >= index - 1) ?? events.length - 1) + 1;
}

/**
 * Lists the positions (0-based) after which a range may end, ascending: nothing before them belongs to what follows. The last
 * is the end.
 */
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
 * Finds where an unfinished tool loop begins in the newest turn: the position of the user's last request in it (0 when it has
 * none), or null when the turn ends in an assistant's message. What the harness added after that message does not count.
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

// A call and its result are one (docs/FORMAT.md §5.1): no provider accepts one without the other. Where one of them is omitted
// the other is too, in whichever turn, and a compaction that keeps one of them by name does not omit the other.

/** One half of a call with its place: turn, and position in the turn's events, 0-based. */
export interface PlacedHalf<Half extends Event = Event> {
  readonly event: Half;
  readonly turn: number;
  readonly index: number;
}

export interface PlacedPair {
  readonly request: PlacedHalf<ToolCallRequest>;
  readonly response: PlacedHalf<ToolCallResponse>;
}

/** The other halves of calls of which a compaction keeps one half by name: ids of events, and the turns they are in. */
export interface KeptHalves {
  readonly ids: ReadonlySet<string>;
  readonly turns: ReadonlySet<number>;
}

interface PairedConversation {
  readonly pairs: CallPairs;
  /** The same pairs with their places, in the order of their results. */
  readonly placed: readonly PlacedPair[];
  /** Only of compactions that name just one half of a call in `keep`. */
  readonly halves: ReadonlyMap<Compaction, KeptHalves>;
}

/** Pairs the calls of the loaded turns, hidden ones too. Without compactions nothing needs pairs, and none are made. */
export function pairConversation(
  turns: ReadonlyMap<number, Turn>,
  compactions: readonly Compaction[],
): PairedConversation {
  if (compactions.length === 0) return { pairs: NO_PAIRS, placed: [], halves: new Map() };
  const ordered = [...turns.values()].sort((a, b) => a.index - b.index);
  const pairs = pairCalls(ordered, () => false);
  const placed = placePairs(ordered, pairs);
  const halves = compactions.flatMap((compaction) => {
    const others = keptHalves(compaction, placed);
    if (others.length === 0) return [];
    const ids = new Set(others.map(({ event }) => event.id));
    return [[compaction, { ids, turns: new Set(others.map(({ turn }) => turn)) }] as const];
  });
  return { pairs, placed, halves: new Map(halves) };
}

function placePairs(turns: readonly Turn[], pairs: CallPairs): readonly PlacedPair[] {
  const requests = new Map<ToolCallRequest, PlacedHalf<ToolCallRequest>>();
  const placed: PlacedPair[] = [];
  for (const { index: turn, events } of turns) {
    let index = -1;
    for (const event of events) {
      index += 1;
      if (event.type === "tool_call_request") requests.set(event, { event, turn, index });
      const call = event.type === "tool_call_response" ? requests.get(pairs.get(event) as ToolCallRequest) : undefined;
      if (call !== undefined)
        placed.push({ request: call, response: { event: event as ToolCallResponse, turn, index } });
    }
  }
  return placed;
}

function keptHalves({ keep = [] }: Compaction, pairs: readonly PlacedPair[]): readonly PlacedHalf[] {
  if (keep.length === 0) return [];
  const named = new Set(keep);
  return pairs.flatMap(({ request, response }) => {
    const isKept = { request: named.has(request.event.id), response: named.has(response.event.id) };
    if (isKept.request === isKept.response) return [];
    return [isKept.request ? response : request];
  });
}

/**
 * Lists the hidden turns (0-based, ascending) that have to be read too: when a turn that is not wholly hidden has a call
 * without a result, or a result without a call, the other half may be in a later or earlier hidden turn.
 */
export function turnsOfOtherHalves(
  ranges: readonly { readonly from: number; readonly to: number; readonly hiddenBy: object | null }[],
  turns: Pick<ReadonlyMap<number, Turn>, "get">,
): readonly number[] {
  const [hidden, shown] = [true, false].map((isHidden) =>
    ranges.flatMap(({ from, to, hiddenBy }) => ((hiddenBy !== null) === isHidden ? positionsOf(from, to) : [])),
  ) as [number[], number[]];
  if (hidden.length === 0) return [];
  const loose = shown.map((turn) => ({ turn, ...unpairedCalls(turns.get(turn)?.events ?? []) }));
  const firstCall = loose.find(({ request }) => request)?.turn ?? Number.POSITIVE_INFINITY;
  const lastResult = loose.findLast(({ response }) => response)?.turn ?? -1;
  return hidden.filter((turn) => turn < lastResult || turn > firstCall);
}

function positionsOf(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}
