// Splits turns where live summaries begin and end, so that a part of them never overlaps one partly: it would have to be
// extended over it (summary-extent.ts), and then over its neighbours.
import type { Compaction } from "../compaction.ts";
import { standsForTurns } from "../summary-extent.ts";
import type { Turn } from "../turn.ts";

/** Splits turns (in order, perhaps cut at their ends) into stretches that summaries lie wholly in, or wholly cover. */
export function splitAtSummaries(
  turns: readonly Turn[],
  compactions: readonly Compaction[],
): readonly (readonly Turn[])[] {
  const summaries = compactions.filter((compaction) => standsForTurns(compaction));
  const stretches: Turn[][] = [];
  for (const turn of turns) {
    const starts = startsIn(turn, summaries);
    const places = [...starts, turn.events.length];
    if (stretches.length === 0 || starts.has(0)) stretches.push([]);
    let first = 0;
    for (const start of places.filter((place) => place > 0).sort((a, b) => a - b)) {
      if (first > 0) stretches.push([]);
      stretches.at(-1)?.push({ index: turn.index, events: turn.events.slice(first, start) });
      first = start;
    }
  }
  return stretches;
}

/** Positions in a turn at which something begins or has just ended; 0 = with the turn. */
function startsIn(turn: Turn, summaries: readonly Compaction[]): ReadonlySet<number> {
  const starts = new Set<number>();
  const find = (event: string | undefined): number => turn.events.findIndex(({ id }) => id === event);
  for (const { from_turn, to_turn, from_event, to_event } of summaries) {
    if (from_turn === turn.index) starts.add(Math.max(0, find(from_event)));
    if (to_turn + 1 === turn.index && to_event === undefined) starts.add(0);
    const end = to_turn === turn.index && to_event !== undefined ? find(to_event) : -1;
    if (end >= 0 && end < turn.events.length - 1) starts.add(end + 1);
  }
  return starts;
}
