// The raw events that a compaction covers, bounds inside its end turns included.

import type { PlacedEvent } from "../../core/compact/transcript.ts";
import type { Compaction } from "../../core/conversation/compaction.ts";
import type { Event, Turn } from "../../core/conversation/event.ts";
import type { ConversationStore } from "../../store/store.ts";
import { inlineEvents } from "./attachments.ts";

type Bounds = Pick<Compaction, "from_turn" | "to_turn" | "from_event" | "to_event">;

/** Lists the covered events with the turn (0-based) each stands in, in order; turns that were not read are passed over. */
export function coveredEvents(
  { from_turn, to_turn, from_event, to_event }: Bounds,
  turns: ReadonlyMap<number, Turn>,
): readonly PlacedEvent[] {
  const covered: PlacedEvent[] = [];
  for (let turn = from_turn; turn <= to_turn; turn++) {
    const events = turns.get(turn)?.events ?? [];
    const first = turn === from_turn && from_event !== undefined ? positionOf(events, from_event, events.length) : 0;
    const last =
      turn === to_turn && to_event !== undefined ? positionOf(events, to_event, events.length - 1) : events.length - 1;
    for (const event of events.slice(first, last + 1)) covered.push({ turn, event });
  }
  return covered;
}

/**
 * Reads the covered events as they were said: with the payloads that were moved out of them, which stand in the tree of
 * `commit`. Throws `attachment_missing`.
 */
export async function readCovered(
  store: ConversationStore,
  commit: string,
  { compaction, turns }: { readonly compaction: Bounds; readonly turns: ReadonlyMap<number, Turn> },
): Promise<readonly PlacedEvent[]> {
  const covered = coveredEvents(compaction, turns);
  const stored = covered.map(({ event }) => event);
  const events = await inlineEvents(store, commit, stored);
  return covered.map(({ turn, event }, at) => ({ turn, event: events[at] ?? event }));
}

/** As in a projection: a first event that is not there covers nothing, a last one that is not there all. */
function positionOf(events: readonly Event[], id: string, otherwise: number): number {
  const position = events.findIndex((event) => event.id === id);
  return position === -1 ? otherwise : position;
}
