// What a compaction took out of the view: the raw events it covers, compared with what the view shows of them. How many events it
// removed is what the report and the record count, too: those that were hidden before are not removed again.
import type { Compaction } from "../../core/compaction/compaction.ts";
import type { Turn } from "../../core/event/turn.ts";
import { type HiddenContent, hiddenContent } from "../../core/loss/hidden-content.ts";
import type { View } from "../../core/projection/view.ts";
import { eventsRemoved } from "./events-removed.ts";

/** Computes what is hidden; every turn of the compaction's range must be among `turns`. */
export function hiddenBy(
  compaction: Pick<Compaction, "from_turn" | "to_turn">,
  facts: { readonly turns: ReadonlyMap<number, Turn>; readonly before: View; readonly after: View },
): HiddenContent {
  const { from_turn: from, to_turn: to } = compaction;
  const raw = [...facts.turns.values()]
    .filter((turn) => from <= turn.index && turn.index <= to)
    .flatMap((turn) => turn.events);
  const shown = facts.after.turns
    .filter(({ origin }) =>
      origin.kind === "kept" ? from <= origin.turn && origin.turn <= to : from <= origin.from && origin.to <= to,
    )
    .flatMap((turn) => turn.events);
  return { ...hiddenContent(raw, shown), events_removed: Math.max(0, eventsRemoved(facts)) };
}
