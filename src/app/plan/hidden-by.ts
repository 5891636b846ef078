// What a compaction took out of the view: the raw events it covers, compared with what the view shows of them. How many events it
// removed is what the report and the record count, too: those that were hidden before are not removed again.

import { type HiddenContent, hiddenContent } from "../../core/compact/hidden-content.ts";
import type { Compaction } from "../../core/conversation/compaction.ts";
import type { Turn, View } from "../../core/conversation/event.ts";
import type { TokenMeter } from "../../core/model/token-meter.ts";
import { eventsRemoved } from "./events-removed.ts";

/**
 * Computes what is hidden; every turn of the compaction's range must be among `turns`, but for those that are hidden before and
 * that nothing new stands for: nothing of them is taken out.
 */
export function hiddenBy(
  compaction: Pick<Compaction, "from_turn" | "to_turn">,
  facts: {
    readonly turns: ReadonlyMap<number, Turn>;
    readonly before: View;
    readonly after: View;
    readonly meter: Pick<TokenMeter, "countEvent">;
  },
): HiddenContent {
  const { from_turn: from, to_turn: to } = compaction;
  const isTouched = touchedTurns(facts);
  const raw = [...facts.turns.values()]
    .filter((turn) => from <= turn.index && turn.index <= to && isTouched(turn.index))
    .flatMap((turn) => turn.events);
  const shown = facts.after.turns
    .filter(({ origin }) =>
      origin.kind === "kept" ? from <= origin.turn && origin.turn <= to : from <= origin.from && origin.to <= to,
    )
    .flatMap((turn) => turn.events);
  return { ...hiddenContent(raw, shown, facts.meter.countEvent), events_removed: Math.max(0, eventsRemoved(facts)) };
}

/** Tells of which turns something was shown before, or is told in a new way after. */
function touchedTurns({ before, after }: { readonly before: View; readonly after: View }): (turn: number) => boolean {
  const shown = new Set<number>();
  const told = new Set<string>();
  for (const { origin } of before.turns) {
    if (origin.kind === "kept") shown.add(origin.turn);
    else told.add(origin.compaction);
  }
  const fresh = after.turns.flatMap(({ origin }) =>
    origin.kind === "kept" || origin.kind === "index" || told.has(origin.compaction) ? [] : [origin],
  );
  return (turn) => shown.has(turn) || fresh.some(({ from, to }) => from <= turn && turn <= to);
}
