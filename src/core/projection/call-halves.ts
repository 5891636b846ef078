// A call and its result are one (docs/FORMAT.md §5.1): no provider takes one without the other. Where one of them is left out
// the other goes, too, whichever turn it is in, and what names one of them in `keep` does not leave out the other.
import type { Compaction } from "../compaction/compaction.ts";
import type { Event, ToolCallRequest, ToolCallResponse } from "../event/event.ts";
import { type CallPairs, looseCalls, NO_PAIRS, pairCalls } from "../event/tool-pairing.ts";
import type { Turn } from "../event/turn.ts";

/** One half of a call with its place: turn, and position in the turn's events, 0-based. */
export interface PlacedHalf<Half extends Event = Event> {
  readonly event: Half;
  readonly turn: number;
  readonly index: number;
}

/** A call and its result. */
export interface PlacedPair {
  readonly request: PlacedHalf<ToolCallRequest>;
  readonly response: PlacedHalf<ToolCallResponse>;
}

/** The other halves of calls of which a compaction names one half in `keep`: ids of events, and the turns they are in. */
export interface KeptHalves {
  readonly ids: ReadonlySet<string>;
  readonly turns: ReadonlySet<number>;
}

/** A conversation whose calls are paired. */
export interface PairedConversation {
  readonly pairs: CallPairs;
  /** The same pairs with their places, in the order of their results. */
  readonly placed: readonly PlacedPair[];
  /** Of those compactions that name only one half of a call in `keep`. */
  readonly halves: ReadonlyMap<Compaction, KeptHalves>;
}

/** Pairs the calls of the turns at hand, hidden ones too. Without compactions nothing is paired: nobody asks. */
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
 * Lists the hidden turns (0-based, ascending) that have to be read, too: where a turn that is not wholly hidden has a call
 * without a result there, or a result without a call, the other half may be in a hidden turn after it, or before it.
 */
export function turnsOfOtherHalves(
  ranges: readonly { readonly from: number; readonly to: number; readonly hiddenBy: object | null }[],
  turns: Pick<ReadonlyMap<number, Turn>, "get">,
): readonly number[] {
  const [hidden, shown] = [true, false].map((isHidden) =>
    ranges.flatMap(({ from, to, hiddenBy }) => ((hiddenBy !== null) === isHidden ? positionsOf(from, to) : [])),
  ) as [number[], number[]];
  if (hidden.length === 0) return [];
  const loose = shown.map((turn) => ({ turn, ...looseCalls(turns.get(turn)?.events ?? []) }));
  const firstCall = loose.find(({ request }) => request)?.turn ?? Number.POSITIVE_INFINITY;
  const lastResult = loose.findLast(({ response }) => response)?.turn ?? -1;
  return hidden.filter((turn) => turn < lastResult || turn > firstCall);
}

function positionsOf(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}
