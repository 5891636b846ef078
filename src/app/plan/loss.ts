// The loss receipt of a compaction on a stored conversation.

import { lossReceipt } from "../../core/compact/receipt.ts";
import type { Compaction, LossReceipt } from "../../core/conversation/compaction.ts";
import type { Turn, View } from "../../core/conversation/event.ts";
import { coveredEvents } from "../branch/covered-events.ts";

/** Computes the receipt from the views without and with the compaction; every covered turn must be among `turns`. */
export function lossOf(
  compaction: Pick<Compaction, "from_turn" | "to_turn" | "from_event" | "to_event" | "summary">,
  facts: {
    readonly turns: ReadonlyMap<number, Turn>;
    readonly before: View;
    readonly after: View;
    readonly pins?: readonly string[];
  },
): LossReceipt {
  const { before, after, pins = [] } = facts;
  const raw = coveredEvents(compaction, facts.turns).map(({ event }) => event);
  return lossReceipt({ raw, before, after, summary: compaction.summary?.summary, pins });
}
