// The first pass of a projection: which overlay decides over each event of every turn, and from that where each summary is
// injected. Looks at positions and ids only and changes nothing.
import { JpgError } from "../errors.ts";
import type { Compaction } from "./compaction.ts";
import { type CoveredRange, type Overlay, planRanges } from "./covered-range.ts";
import { type Event, type Turn, traitsOf } from "./event.ts";
import { type PlacedHalf, type PlacedPair, pairConversation } from "./tool-pairing.ts";

/** A turn of which something may be shown. */
export interface SurveyedTurn {
  readonly turn: Turn;
  /** Overlays that cover some of it, newest first. */
  readonly locals: readonly LocalOverlay[];
  /** The overlay that hides or keeps each event, by position; null where none does. Empty = none anywhere. */
  readonly deciders: readonly (Overlay | null)[];
  /** The overlay that hides each event, itself or with the other half of a call. Empty = nothing is hidden. */
  readonly hiders: readonly (Overlay | null)[];
}

/** A place in the raw conversation; `index` = position in the turn's events, 0-based. */
interface EventPlace {
  readonly turn: number;
  readonly index: number;
}

/** What a projection knows before it lays out the view. */
export interface Survey {
  /** Turns that are not wholly hidden, by position, ascending. */
  readonly turns: ReadonlyMap<number, SurveyedTurn>;
  /**
   * The first place that a hiding overlay wins or keeps, but not between a shown call and its result; only of overlays that win
   * something. `index` may be one past the turn's last event.
   */
  readonly places: ReadonlyMap<Overlay, EventPlace>;
  /** Overlays that end inside a turn of which something is shown after them. */
  readonly endingInside: ReadonlySet<Overlay>;
}

/**
 * Surveys the turns that are not wholly hidden. `pairs` = the calls of all loaded turns. Throws `turn_not_read` (internal) when
 * one of the turns is missing.
 */
export function surveyTurns(
  ranges: readonly CoveredRange[],
  turns: ReadonlyMap<number, Turn>,
  pairs: readonly PlacedPair[],
): Survey {
  const shown = ranges.filter(({ hiddenBy }) => hiddenBy === null);
  const surveyed = new Map<number, SurveyedTurn>();
  for (const range of shown) for (const seen of surveyRange(range, turns)) surveyed.set(seen.turn.index, seen);
  hideOtherHalves(surveyed, ranges, pairs);
  const places = new Map<Overlay, EventPlace>();
  const winners = new Set<Overlay>();
  const endingInside = new Set<Overlay>();
  for (const { hiddenBy, from, to } of ranges) {
    if (hiddenBy !== null) {
      winners.add(hiddenBy);
      recordPlace(places, hiddenBy, from, 0);
      continue;
    }
    for (let position = from; position <= to; position += 1) {
      const seen = surveyed.get(position) as SurveyedTurn;
      recordDeciders(seen, places, winners);
      recordEnds(seen, endingInside);
    }
  }
  for (const overlay of places.keys()) if (!winners.has(overlay)) places.delete(overlay);
  for (const [overlay, place] of places)
    if (overlay.compaction.source !== "import") places.set(overlay, moveAfterResult(place, surveyed, pairs));
  return { turns: surveyed, places, endingInside };
}

/** Whether the event at a position is hidden; kinds that are not hideable never are. */
export function isHiddenAt({ hiders }: SurveyedTurn, index: number): boolean {
  return (hiders[index] ?? null) !== null;
}

/** Hides the other half of each call of which one half is hidden, by the same overlay. */
function hideOtherHalves(
  surveyed: Map<number, SurveyedTurn>,
  ranges: readonly CoveredRange[],
  pairs: readonly PlacedPair[],
): void {
  const hiderOf = ({ turn, index }: PlacedHalf): Overlay | null => {
    const seen = surveyed.get(turn);
    if (seen !== undefined) return seen.hiders[index] ?? null;
    return ranges.find(({ from, to }) => from <= turn && turn <= to)?.hiddenBy ?? null;
  };
  for (const { request, response } of pairs) {
    const [first, second] = [hiderOf(request), hiderOf(response)];
    if ((first === null) === (second === null)) continue;
    // An imported session shows what its agent sent: the agent decided over both halves itself.
    if ((first ?? second)?.compaction.source === "import") continue;
    const other = first === null ? request : response;
    const seen = surveyed.get(other.turn) as SurveyedTurn;
    const hiders = seen.hiders.length > 0 ? [...seen.hiders] : seen.turn.events.map(() => null);
    hiders[other.index] = first ?? second;
    surveyed.set(other.turn, { ...seen, hiders });
  }
}

/** Moves a place between a call and its result, both shown in its turn, to after the result. */
function moveAfterResult(
  place: EventPlace,
  surveyed: ReadonlyMap<number, SurveyedTurn>,
  pairs: readonly PlacedPair[],
): EventPlace {
  const seen = surveyed.get(place.turn);
  if (seen === undefined) return place;
  let { index } = place;
  // In the order of their results: a place moved after one may then be inside the next.
  for (const { request, response } of pairs) {
    const isHere = request.turn === place.turn && response.turn === place.turn && !isHiddenAt(seen, request.index);
    if (isHere && request.index < index && index <= response.index) index = response.index + 1;
  }
  return { ...place, index };
}

/** Whether the event at a position is hidden: turn = its position, index = position in the turn's events, 0-based. */
export type IsHidden = (turn: number, index: number) => boolean;

/** Returns a predicate for hidden events in a conversation of which only some turns may be loaded; false for the others. */
export function hiddenEvents({
  turnCount,
  turns,
  compactions,
}: {
  readonly turnCount: number;
  readonly turns: ReadonlyMap<number, Turn>;
  readonly compactions: readonly Compaction[];
}): IsHidden {
  const surveyed = new Map<number, SurveyedTurn>();
  const paired = pairConversation(turns, compactions);
  const ranges = planRanges(turnCount, compactions, paired.halves);
  for (const range of ranges) {
    for (let position = range.from; position <= range.to; position += 1) {
      const turn = turns.get(position);
      const locals = turn !== undefined && range.hasDecisions ? localizeOverlays(range, turn) : [];
      if (turn !== undefined) surveyed.set(position, surveyTurn(range, turn, locals));
    }
  }
  hideOtherHalves(surveyed, ranges, paired.placed);
  return (position, index) => {
    const seen = surveyed.get(position);
    return seen !== undefined && isHiddenAt(seen, index);
  };
}

function hides(decider: Overlay, event: Event): boolean {
  return decider.hides && traitsOf(event).hideable && !keepsEvent(decider, event) && !keepsOtherHalf(decider, event);
}

function* surveyRange(range: CoveredRange, turns: ReadonlyMap<number, Turn>): Generator<SurveyedTurn> {
  let locals: readonly LocalOverlay[] | null = null;
  for (let position = range.from; position <= range.to; position += 1) {
    const turn = turns.get(position);
    if (turn === undefined) {
      const problem = `cannot project turn ${position}: it is not wholly hidden, but its events were not handed in`;
      throw new JpgError("internal", "turn_not_read", problem, { data: { turn: position } });
    }
    if (locals === null || range.isCut) locals = localizeOverlays(range, turn);
    yield surveyTurn(range, turn, locals);
  }
}

function surveyTurn(range: CoveredRange, turn: Turn, locals: readonly LocalOverlay[]): SurveyedTurn {
  if (!range.hasDecisions) return { turn, locals, deciders: [], hiders: [] };
  const deciders = listDeciders(locals, turn);
  const hiders = deciders.map((decider, index) =>
    decider !== null && hides(decider, turn.events[index] as Event) ? decider : null,
  );
  return { turn, locals, deciders, hiders };
}

function listDeciders(locals: readonly LocalOverlay[], turn: Turn): readonly (Overlay | null)[] {
  return turn.events.map((event, index) => findDecider(locals, event, index));
}

/**
 * Only events that a model is sent count as a win: a summary that hides only notes replaces nothing. A turn without such events
 * goes to the overlay that decides over its first event, as it does when the turn is not read.
 */
function recordDeciders(seen: SurveyedTurn, places: Map<Overlay, EventPlace>, winners: Set<Overlay>): void {
  if (seen.deciders.length === 0) return;
  const isSilent = !seen.turn.events.some((event) => traitsOf(event).providerVisible);
  for (const [index, decider] of seen.deciders.entries()) {
    if (decider?.hides !== true) continue;
    const event = seen.turn.events[index] as Event;
    if (isSilent ? index > 0 : !traitsOf(event).providerVisible) continue;
    recordPlace(places, decider, seen.turn.index, index);
    if (hides(decider, event)) winners.add(decider);
  }
}

function recordPlace(places: Map<Overlay, EventPlace>, overlay: Overlay, turn: number, index: number): void {
  if (!places.has(overlay)) places.set(overlay, { turn, index });
}

function recordEnds(seen: SurveyedTurn, endingInside: Set<Overlay>): void {
  for (const { overlay, last } of seen.locals) {
    if (!overlay.hides || overlay.toEvent === undefined || overlay.to !== seen.turn.index) continue;
    const shown = seen.turn.events.some(
      (event, index) => index > last && traitsOf(event).providerVisible && !isHiddenAt(seen, index),
    );
    if (shown) endingInside.add(overlay);
  }
}

/** An overlay with the events of a turn that it covers: positions in the turn, 0-based, inclusive; infinite = no bound. */
export interface LocalOverlay {
  readonly overlay: Overlay;
  readonly first: number;
  readonly last: number;
}

/**
 * Returns the overlays of a range for one of its turns, newest first. When the turn lacks a bound's event, the turn was cut
 * short before it: a missing first event covers nothing, a missing last one covers all that is there.
 */
export function localizeOverlays(range: CoveredRange, turn: Turn): readonly LocalOverlay[] {
  const end = Number.POSITIVE_INFINITY;
  return range.overlays.map((overlay) => {
    const { from, to, fromEvent, toEvent } = overlay;
    const first = fromEvent !== undefined && from === turn.index ? findPosition(turn, fromEvent, end) : 0;
    const last = toEvent !== undefined && to === turn.index ? findPosition(turn, toEvent, end) : end;
    return { overlay, first, last };
  });
}

function findPosition(turn: Turn, id: string, otherwise: number): number {
  const position = turn.events.findIndex((event) => event.id === id);
  return position === -1 ? otherwise : position;
}

/** Whether an event is covered; `index` = its position in the turn, 0-based. */
export function coversEvent(local: LocalOverlay, index: number): boolean {
  return index >= local.first && index <= local.last;
}

/** Whether the overlay keeps this event by name, which also ends what older overlays say about it. */
export function keepsEvent(overlay: Overlay, event: Event): boolean {
  return overlay.keep?.has(event.id) === true;
}

/** Whether the overlay must not omit this event, because it keeps the other half of the call by name. */
export function keepsOtherHalf({ halves }: Overlay, event: Event): boolean {
  return halves?.ids.has(event.id) === true;
}

/** Finds the newest overlay that hides the event or protects it from hiding; null when none does. */
export function findDecider(locals: readonly LocalOverlay[], event: Event, index: number): Overlay | null {
  for (const local of locals) {
    if (!coversEvent(local, index)) continue;
    const { overlay } = local;
    if (overlay.hides || keepsEvent(overlay, event) || keepsOtherHalf(overlay, event)) return overlay;
  }
  return null;
}
