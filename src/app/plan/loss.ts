// The loss receipt of a compaction on a stored conversation.
import type { Compaction } from "../../core/compaction/compaction.ts";
import type { LossReceipt } from "../../core/compaction/loss-receipt.ts";
import type { Turn } from "../../core/event/turn.ts";
import { lossReceipt } from "../../core/loss/receipt.ts";
import type { View } from "../../core/projection/view.ts";
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
