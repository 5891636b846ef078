// The first pass of a projection: for every turn, who decides over its events, and from that where each summary is
// injected. It looks at positions and ids only and changes nothing.

import type { Compaction } from "../compaction/compaction.ts";
import { JpgError } from "../errors.ts";
import { type Event, traitsOf } from "../event/event.ts";
import type { Turn } from "../event/turn.ts";
import { type CoveredRange, planRanges } from "./covered-range.ts";
import { findDecider, keepsEvent, type LocalOverlay, localizeOverlays } from "./local-overlay.ts";
import type { Overlay } from "./overlay.ts";

/** A turn of which something may be shown. */
export interface SurveyedTurn {
  readonly turn: Turn;
  /** Overlays that cover some of it, newest first. */
  readonly locals: readonly LocalOverlay[];
  /** The overlay that hides or keeps each event, by position; null where none does. Empty = none anywhere. */
  readonly deciders: readonly (Overlay | null)[];
}

/** A place in the raw conversation; `index` = position in the turn's events, 0-based. */
export interface EventPlace {
  readonly turn: number;
  readonly index: number;
}

/** What a projection knows before it lays out the view. */
export interface Survey {
  /** Turns that are not wholly hidden, by position, ascending. */
  readonly turns: ReadonlyMap<number, SurveyedTurn>;
  /** First place that a hiding overlay wins or keeps; only of overlays that win something. */
  readonly places: ReadonlyMap<Overlay, EventPlace>;
  /** Overlays that end inside a turn of which something is shown after them. */
  readonly endingInside: ReadonlySet<Overlay>;
}

/** Surveys the turns that are not wholly hidden. Throws `turn_not_read` (internal) when one of them is missing. */
export function surveyTurns(ranges: readonly CoveredRange[], turns: ReadonlyMap<number, Turn>): Survey {
  const surveyed = new Map<number, SurveyedTurn>();
  const places = new Map<Overlay, EventPlace>();
  const winners = new Set<Overlay>();
  const endingInside = new Set<Overlay>();
  for (const range of ranges) {
    if (range.hiddenBy !== null) {
      winners.add(range.hiddenBy);
      notePlace(places, range.hiddenBy, range.from, 0);
      continue;
    }
    for (const seen of surveyRange(range, turns)) {
      surveyed.set(seen.turn.index, seen);
      noteDeciders(seen, places, winners);
      noteEnds(seen, endingInside);
    }
  }
  for (const overlay of places.keys()) if (!winners.has(overlay)) places.delete(overlay);
  return { turns: surveyed, places, endingInside };
}

/** Whether the event at a position is hidden; kinds that are not hideable never are. */
export function isHiddenAt({ turn, deciders }: SurveyedTurn, index: number): boolean {
  const decider = deciders[index] ?? null;
  return decider !== null && hides(decider, turn.events[index] as Event);
}

/** Whether the event at a position is hidden: turn = its position, index = position in the turn's events, 0-based. */
export type IsHidden = (turn: number, index: number) => boolean;

/** Tells which events are hidden, of a conversation of which only some turns may be at hand; of the others, none. */
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
  for (const range of planRanges(turnCount, compactions)) {
    for (let position = range.from; range.hasDecisions && position <= range.to; position += 1) {
      const turn = turns.get(position);
      if (turn !== undefined) surveyed.set(position, surveyTurn(range, turn, localizeOverlays(range, turn)));
    }
  }
  return (position, index) => {
    const seen = surveyed.get(position);
    return seen !== undefined && isHiddenAt(seen, index);
  };
}

function hides(decider: Overlay, event: Event): boolean {
  return traitsOf(event).hideable && !keepsEvent(decider, event);
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
  return { turn, locals, deciders: range.hasDecisions ? listDeciders(locals, turn) : [] };
}

function listDeciders(locals: readonly LocalOverlay[], turn: Turn): readonly (Overlay | null)[] {
  return turn.events.map((event, index) => findDecider(locals, event, index));
}

/**
 * Only events that a model is sent make a win: a summary that hides nothing but notes stands for nothing. A turn without
 * such events goes to who decides over its first event, because that is who gets it when it is not read.
 */
function noteDeciders(seen: SurveyedTurn, places: Map<Overlay, EventPlace>, winners: Set<Overlay>): void {
  if (seen.deciders.length === 0) return;
  const isSilent = !seen.turn.events.some((event) => traitsOf(event).providerVisible);
  for (const [index, decider] of seen.deciders.entries()) {
    if (decider?.hides !== true) continue;
    const event = seen.turn.events[index] as Event;
    if (isSilent ? index > 0 : !traitsOf(event).providerVisible) continue;
    notePlace(places, decider, seen.turn.index, index);
    if (hides(decider, event)) winners.add(decider);
  }
}

function notePlace(places: Map<Overlay, EventPlace>, overlay: Overlay, turn: number, index: number): void {
  if (!places.has(overlay)) places.set(overlay, { turn, index });
}

function noteEnds(seen: SurveyedTurn, endingInside: Set<Overlay>): void {
  for (const { overlay, last } of seen.locals) {
    if (!overlay.hides || overlay.toEvent === undefined || overlay.to !== seen.turn.index) continue;
    const shown = seen.turn.events.some(
      (event, index) => index > last && traitsOf(event).providerVisible && !isHiddenAt(seen, index),
    );
    if (shown) endingInside.add(overlay);
  }
}
