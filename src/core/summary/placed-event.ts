// An event with the place it stands at, as what is summarised is handed around.
import type { Event } from "../event/event.ts";
import type { Turn } from "../event/turn.ts";

export interface PlacedEvent {
  /** Turn position, 0-based. */
  readonly turn: number;
  readonly event: Event;
}

/** Puts events (in order) back into turns; a turn holds only those given. */
export function groupTurns(events: readonly PlacedEvent[]): readonly Turn[] {
  const turns = new Map<number, Event[]>();
  for (const { turn, event } of events) {
    const list = turns.get(turn);
    if (list === undefined) turns.set(turn, [event]);
    else list.push(event);
  }
  return [...turns].map(([index, list]) => ({ index, events: list }));
}
