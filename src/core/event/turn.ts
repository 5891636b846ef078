// The turn: a request and all events that follow until the next request. Positions are 0-based.
import type { Event } from "./event.ts";

/** One turn. `events` is in file order; the first is normally its turn_start. */
export interface Turn {
  /** Turn position, 0-based. */
  readonly index: number;
  readonly events: readonly Event[];
}

/** The object id of the turn file that a turn was said after, by its turn_start; null where that says none. */
export function previousTurn([first]: readonly Event[]): string | null {
  return first?.type === "turn_start" && typeof first.prev === "string" ? first.prev : null;
}

/**
 * Splits a flat stream into turns at each turn_start. Provider-visible events before the first turn_start form turn 0;
 * anything else there belongs to the first turn (docs/FORMAT.md §3).
 */
export function splitTurns(events: Iterable<Event>, isVisible: (event: Event) => boolean): Turn[] {
  const turns: Event[][] = [];
  const head: Event[] = [];
  for (const event of events) {
    if (event.type === "turn_start") turns.push([event]);
    else (turns.at(-1) ?? head).push(event);
  }
  const [first] = turns;
  if (head.some(isVisible) || (first === undefined && head.length > 0)) turns.unshift(head);
  else if (first !== undefined) turns[0] = [...first.slice(0, 1), ...head, ...first.slice(1)];
  return turns.map((list, index) => ({ index, events: list }));
}
