// An overlay inside one turn: which events of it the overlay covers, and which overlay decides whether one is shown.
import type { Event } from "../event/event.ts";
import type { Turn } from "../event/turn.ts";
import type { CoveredRange } from "./covered-range.ts";
import type { Overlay } from "./overlay.ts";

/** An overlay with the events of a turn that it covers: positions in the turn, 0-based, inclusive; infinite = no bound. */
export interface LocalOverlay {
  readonly overlay: Overlay;
  readonly first: number;
  readonly last: number;
}

/**
 * Gives the overlays of a range for one of its turns, newest first. A bound that the turn does not hold means that the
 * turn was cut short before it: a missing first event covers nothing, a missing last one covers all that is there.
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

/** Whether the overlay leaves this event unchanged by name, which also ends what older overlays say about it. */
export function keepsEvent(overlay: Overlay, event: Event): boolean {
  return overlay.keep?.has(event.id) === true;
}

/** Whether the overlay does not leave this event out, because it leaves the other half of the call unchanged by name. */
export function sparesHalf({ halves }: Overlay, event: Event): boolean {
  return halves?.ids.has(event.id) === true;
}

/** Finds the newest overlay that hides the event or keeps it from that; null when none does. */
export function findDecider(locals: readonly LocalOverlay[], event: Event, index: number): Overlay | null {
  for (const local of locals) {
    if (!coversEvent(local, index)) continue;
    const { overlay } = local;
    if (overlay.hides || keepsEvent(overlay, event) || sparesHalf(overlay, event)) return overlay;
  }
  return null;
}
