// The raw events that a compaction covers, bounds inside its end turns included.
import type { Compaction } from "../core/compaction.ts";
import type { Event } from "../core/event.ts";
import type { Turn } from "../core/turn.ts";

type Bounds = Pick<Compaction, "from_turn" | "to_turn" | "from_event" | "to_event">;

/** Lists the covered events with the turn (0-based) each stands in, in order; turns that were not read are passed over. */
export function coveredEvents(
  { from_turn, to_turn, from_event, to_event }: Bounds,
  turns: ReadonlyMap<number, Turn>,
): readonly { readonly turn: number; readonly event: Event }[] {
  const covered: { turn: number; event: Event }[] = [];
  for (let turn = from_turn; turn <= to_turn; turn++) {
    const events = turns.get(turn)?.events ?? [];
    const first = turn === from_turn && from_event !== undefined ? positionOf(events, from_event, events.length) : 0;
    const last =
      turn === to_turn && to_event !== undefined ? positionOf(events, to_event, events.length - 1) : events.length - 1;
    for (const event of events.slice(first, last + 1)) covered.push({ turn, event });
  }
  return covered;
}

/** As in a projection: a first event that is not there covers nothing, a last one that is not there all. */
function positionOf(events: readonly Event[], id: string, otherwise: number): number {
  const position = events.findIndex((event) => event.id === id);
  return position === -1 ? otherwise : position;
}
