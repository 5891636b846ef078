// Whether a summary may stand inside or in place of an older one: then it is measured by the raw turns, not by what the view shows of
// them.
import type { Compaction } from "../../core/compaction/compaction.ts";
import type { PlannedCompaction } from "./compact-plan.ts";

/** Who asks for a compaction. */
interface Asked {
  readonly source?: Compaction["source"];
  /** Only for a smaller view, however little is shown of the turns. */
  readonly mustShrink?: boolean;
}

/** Whether somebody asks for a summary of turns that an older summary, replacement or omission stands for already. */
export function mayNest({ plan, live }: PlannedCompaction, { source = "manual", mustShrink = false }: Asked): boolean {
  if (source !== "manual" || mustShrink) return false;
  const { from_turn, to_turn } = plan.compaction;
  return live.applied.some((other) => {
    const hides = other.summary !== undefined || other.replacement !== undefined || other.turns !== undefined;
    return hides && other.from_turn <= to_turn && other.to_turn >= from_turn;
  });
}
