// Which compaction wins an event, and what it does to it: per event and content type, the latest one that covers the event and
// has an opinion on that type. Hiding beats mechanical policies whatever their times (docs/FORMAT.md §5.1).
import type { Compaction } from "./compaction.ts";
import type { Disposition, Projected } from "./contents/content-type.ts";
import { mainContentOf, PART_CONTENTS } from "./contents/content-types.ts";
import { type CoveredRange, type Overlay, planRanges } from "./covered-range.ts";
import { type Event, type ToolCallRequest, type Turn, traitsOf } from "./event.ts";
import { shortenEvent } from "./shorten-event.ts";
import {
  coversEvent,
  isHiddenAt,
  keepsEvent,
  keepsOtherHalf,
  type LocalOverlay,
  type Survey,
  type SurveyedTurn,
  surveyTurns,
} from "./survey.ts";
import { type CallPairs, type PlacedHalf, type PlacedPair, pairConversation } from "./tool-pairing.ts";

/**
 * Resolves the winner of every event of the loaded turns, in order, by event id. Events on which no compaction has an opinion
 * are absent: they are shown unchanged. Where one compaction decides over an event and another over parts of it, returns the
 * first that changes it. Turns that are not loaded (of `turnCount`, default all) are skipped: they only matter for a result
 * whose call is in one of them.
 */
export function resolveDispositions(
  turns: readonly Turn[],
  compactions: readonly Compaction[],
  turnCount: number = turns.length,
): ReadonlyMap<string, Disposition> {
  const byPosition = new Map(turns.map((turn) => [turn.index, turn]));
  const { pairs, placed, halves } = pairConversation(byPosition, compactions);
  const ranges = planRanges(turnCount, compactions, halves).flatMap((range) => loadedRanges(range, byPosition));
  const survey = surveyTurns(ranges, byPosition, placed);
  const omitted = omittedHalves(survey, placed, pairs);
  const dispositions = new Map<string, Disposition>();
  for (const seen of survey.turns.values()) {
    for (const [index, event] of seen.turn.events.entries()) {
      const disposition = omitted.get(event) ?? resolveDisposition(seen, event, index, pairs);
      if (disposition !== null) dispositions.set(event.id, disposition);
    }
  }
  for (const { hiddenBy, from } of ranges) {
    const hidden =
      hiddenBy === null ? [] : (byPosition.get(from)?.events ?? []).filter((event) => traitsOf(event).hideable);
    for (const { id } of hidden) dispositions.set(id, hideBy(hiddenBy as Overlay));
  }
  return dispositions;
}

function hideBy({ compaction }: Overlay): Disposition {
  return { compaction, content: "hiding", action: "hide" };
}

/** Splits a range into ranges of one turn each, of the loaded turns. */
function loadedRanges(range: CoveredRange, turns: ReadonlyMap<number, Turn>): readonly CoveredRange[] {
  const ranges: CoveredRange[] = [];
  for (let turn = range.from; turn <= range.to; turn += 1)
    if (turns.has(turn)) ranges.push({ ...range, from: turn, to: turn });
  return ranges;
}

/**
 * Finds what omits those halves of calls that no compaction omits itself, while one omits the other half. Only where the two
 * can differ: in different turns, in a turn that is cut, and where calls are named one by one.
 */
export function omittedHalves(
  { turns }: Survey,
  placed: readonly PlacedPair[],
  pairs: CallPairs,
): ReadonlyMap<Event, Disposition> {
  const omitted = new Map<Event, Disposition>();
  const omissionOf = ({ event, turn, index }: PlacedHalf): Disposition | null => {
    const { locals } = turns.get(turn) as SurveyedTurn;
    const winner = findMechanicalWinner(locals, event, index, pairs);
    return winner?.action === "omit" ? winner : null;
  };
  for (const { request, response } of placed) {
    const seen = turns.get(request.turn);
    if (seen === undefined || !turns.has(response.turn) || isHiddenAt(seen, request.index)) continue;
    if (request.turn === response.turn && !mayDiffer(seen.locals)) continue;
    const [first, second] = [omissionOf(request), omissionOf(response)];
    if (first !== null && second === null) omitted.set(response.event, { ...first, content: "tool_response" });
    if (second !== null && first === null) omitted.set(request.event, { ...second, content: "tool_request" });
  }
  return omitted;
}

/** Whether an overlay can omit one half of a call and not the other. */
function mayDiffer(locals: readonly LocalOverlay[]): boolean {
  return locals.some(
    ({ overlay, first, last }) => overlay.calls !== null || first > 0 || last < Number.POSITIVE_INFINITY,
  );
}

function resolveDisposition(seen: SurveyedTurn, event: Event, index: number, pairs: CallPairs): Disposition | null {
  const hider = seen.hiders[index] ?? null;
  if (hider !== null) return hideBy(hider);
  const decider = seen.deciders[index] ?? null;
  const mechanical = findMechanicalWinner(seen.locals, event, index, pairs);
  const [part] = findPartWinners(seen.locals, event, index);
  if (part !== undefined && (mechanical === null || hasNoEffect(mechanical, event))) return part;
  if (mechanical !== null) return mechanical;
  const isKept = decider !== null && keepsEvent(decider, event);
  return isKept ? { compaction: decider.compaction, content: "hiding", action: "keep" } : null;
}

function hasNoEffect(disposition: Disposition, event: Event): boolean {
  return shortenEvent(event, disposition, {}) === event;
}

/**
 * Finds the compaction that wins an event which is not hidden, or null. At most one mechanical content type is about the event
 * as a whole; parts of it may have others (`findPartWinners`). `locals` newest first; `index` = position in the turn, 0-based.
 */
export function findMechanicalWinner(
  locals: readonly LocalOverlay[],
  event: Event,
  index: number,
  pairs: CallPairs,
): Disposition | null {
  if (locals.length === 0) return null;
  const projected = mainContentOf(event)?.projected;
  if (projected === undefined) return null;
  const call = event.type === "tool_call_response" ? pairs.get(event) : undefined;
  return findOpinion(locals, event, index, { projected, call });
}

/** Finds the compactions that win parts of an event, such as its images: applied after what is decided about the event. */
export function findPartWinners(locals: readonly LocalOverlay[], event: Event, index: number): readonly Disposition[] {
  if (locals.length === 0) return [];
  return PART_CONTENTS.flatMap(({ projected }) => {
    if (projected === undefined || projected.contentOf(event) === null) return [];
    return findOpinion(locals, event, index, { projected, call: undefined }) ?? [];
  });
}

function findOpinion(
  locals: readonly LocalOverlay[],
  event: Event,
  index: number,
  { projected, call }: { readonly projected: Projected; readonly call: ToolCallRequest | undefined },
): Disposition | null {
  let isHalfKept = false;
  for (const local of locals) {
    if (!coversEvent(local, index)) continue;
    if (keepsEvent(local.overlay, event)) return null;
    isHalfKept ||= keepsOtherHalf(local.overlay, event);
    const opinion = projected.opinion(local.overlay, event, call);
    if (opinion?.action === "omit" && isHalfKept) return null;
    if (opinion === undefined) continue;
    return { compaction: local.overlay.compaction, content: projected.contentOf(event) ?? "", ...opinion };
  }
  return null;
}
