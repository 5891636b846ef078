// Splits turns where live summaries begin and end, so that a part of them never overlaps one partly: it would have to be
// extended over it (summary-extent.ts), and then over its neighbours.
import type { Compaction } from "../compaction/compaction.ts";
import type { Turn } from "../event/turn.ts";
import { standsForTurns } from "../range/summary-extent.ts";

/** Splits turns (in order, perhaps cut at their ends) into stretches that summaries lie wholly in, or wholly cover. */
export function splitAtSummaries(
  turns: readonly Turn[],
  compactions: readonly Compaction[],
): readonly (readonly Turn[])[] {
  const summaries = compactions.filter((compaction) => standsForTurns(compaction));
  const stretches: Turn[][] = [];
  let isEnded = true;
  for (const turn of turns) {
    const starts = startsIn(turn, summaries);
    const places = new Set([...starts, turn.events.length]);
    let first = 0;
    for (const place of [...places].filter((each) => each > 0).sort((a, b) => a - b)) {
      if (isEnded || starts.has(first)) stretches.push([]);
      stretches.at(-1)?.push({ index: turn.index, events: turn.events.slice(first, place) });
      first = place;
    }
    isEnded = starts.has(turn.events.length);
  }
  return stretches;
}

/** Positions in a turn at which something begins or has just ended; 0 = with the turn, its length = with the next one. */
function startsIn(turn: Turn, summaries: readonly Compaction[]): ReadonlySet<number> {
  const starts = new Set<number>();
  const find = (event: string | undefined): number => turn.events.findIndex(({ id }) => id === event);
  for (const { from_turn, to_turn, from_event, to_event } of summaries) {
    if (from_turn === turn.index) starts.add(Math.max(0, find(from_event)));
    if (to_turn !== turn.index) continue;
    const end = to_event === undefined ? turn.events.length - 1 : find(to_event);
    if (end >= 0) starts.add(end + 1);
  }
  return starts;
}
