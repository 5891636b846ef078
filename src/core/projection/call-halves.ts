// A call and its result are one (docs/FORMAT.md §5.1): no provider takes one without the other. What names one of them in
// `keep` keeps both, and where one is left out the other goes, too, whichever turn it is in.
import type { Compaction } from "../compaction/compaction.ts";
import { keptTurnsOf, withKeptTurns } from "../compaction/kept-turns.ts";
import type { Event, ToolCallRequest, ToolCallResponse } from "../event/event.ts";
import { type CallPairs, looseCalls, NO_PAIRS, pairCalls } from "../event/tool-pairing.ts";
import type { Turn } from "../event/turn.ts";
import type { CoveredRange } from "./covered-range.ts";

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

/** A conversation whose calls are paired. */
export interface PairedConversation {
  readonly pairs: CallPairs;
  /** The same pairs with their places, in the order of their results. */
  readonly placed: readonly PlacedPair[];
  /** The compactions, each with both halves of every call that it names in `keep`. */
  readonly compactions: readonly Compaction[];
}

/** Pairs the calls of the turns at hand, hidden ones too. Without compactions nothing is paired: nobody asks. */
export function pairConversation(
  turns: ReadonlyMap<number, Turn>,
  compactions: readonly Compaction[],
): PairedConversation {
  if (compactions.length === 0) return { pairs: NO_PAIRS, placed: [], compactions };
  const ordered = [...turns.values()].sort((a, b) => a.index - b.index);
  const pairs = pairCalls(ordered, () => false);
  const placed = placePairs(ordered, pairs);
  return { pairs, placed, compactions: compactions.map((compaction) => keepBothHalves(compaction, placed)) };
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

/** Gives the compaction itself where it keeps no half without the other. */
function keepBothHalves(compaction: Compaction, pairs: readonly PlacedPair[]): Compaction {
  const { keep = [] } = compaction;
  if (keep.length === 0) return compaction;
  const named = new Set(keep);
  const others = pairs.flatMap(({ request, response }) => {
    const isKept = { request: named.has(request.event.id), response: named.has(response.event.id) };
    if (isKept.request === isKept.response) return [];
    return [isKept.request ? response : request];
  });
  if (others.length === 0) return compaction;
  const copy = { ...compaction, keep: [...keep, ...others.map(({ event }) => event.id)] };
  const kept = keptTurnsOf(compaction);
  return kept === null ? copy : withKeptTurns(copy, [...kept, ...others.map(({ turn }) => turn)]);
}

/**
 * Lists the hidden turns (0-based, ascending) that have to be read, too: where a turn that is not wholly hidden has a call
 * without a result there, or a result without a call, the other half may be in a hidden turn after it, or before it.
 */
export function turnsOfOtherHalves(
  ranges: readonly CoveredRange[],
  turns: Pick<ReadonlyMap<number, Turn>, "get">,
): readonly number[] {
  const hidden = ranges.filter(({ hiddenBy }) => hiddenBy !== null);
  if (hidden.length === 0) return [];
  let [firstCall, lastResult] = [Number.POSITIVE_INFINITY, -1];
  for (const { from, to, hiddenBy } of ranges) {
    for (let turn = from; hiddenBy === null && turn <= to; turn += 1) {
      const { request, response } = looseCalls(turns.get(turn)?.events ?? []);
      if (request) firstCall = Math.min(firstCall, turn);
      if (response) lastResult = turn;
    }
  }
  const wanted: number[] = [];
  for (const { from, to } of hidden)
    for (let turn = from; turn <= to; turn += 1) if (turn < lastResult || turn > firstCall) wanted.push(turn);
  return wanted;
}
