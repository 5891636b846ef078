// The turn: a request and all events that follow until the next request. Positions are 0-based.
import type { Event } from "./event.ts";

/** One turn. `events` is in file order; the first is normally its turn_start. */
export interface Turn {
  /** Turn position, 0-based. */
  readonly index: number;
  readonly events: readonly Event[];
}

/**
 * Splits a flat stream into turns at each turn_start. Provider-visible events before the first turn_start form turn 0;
 * anything else there belongs to the first turn (DESIGN §3).
 */
export function splitTurns(events: Iterable<Event>, isVisible: (event: Event) => boolean): Turn[] {
  const turns: Event[][] = [];
  let head: Event[] = [];
  let headVisible = false;
  for (const event of events) {
    if (event.type === "turn_start") {
      if (turns.length === 0 && headVisible) turns.push(head);
      else if (turns.length === 0 && head.length > 0) {
        turns.push([event, ...head]);
        head = [];
        continue;
      }
      turns.push([event]);
    } else if (turns.length === 0) {
      head.push(event);
      headVisible ||= isVisible(event);
    } else turns[turns.length - 1]?.push(event);
  }
  if (turns.length === 0 && head.length > 0) turns.push(head);
  return turns.map((list, index) => ({ index, events: list }));
}
