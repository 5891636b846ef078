// Whether summaries that are made again and again may go on one behind the other. Each keeps what it stands for once, so that a model
// is paid for every turn once; together they would fill a window in the end.
import { type Compaction, compareCompactions } from "../compaction/compaction.ts";
import { rangeContains, type TurnRange } from "../range/turn-range.ts";
import { estimateTextTokens } from "../tokens/text-tokens.ts";

/** Share of the limit above which a new summary stands for what several older ones do, too. */
const OLDER_SHARE = 0.25;

/**
 * Whether the summaries that stand in the view leave room for another behind them; where not, the next one stands for all turns.
 * `limit` = the size above which is summarised, tokens. A single summary always leaves room: another in its place is no smaller.
 */
export function hasRoomBehind(live: readonly Compaction[], limit: number): boolean {
  const summaries = live.filter(({ summary }) => summary !== undefined);
  const isReplaced = (one: Compaction): boolean =>
    summaries.some((other) => compareCompactions(one, other) < 0 && rangeContains(rangeOf(other), rangeOf(one)));
  const shown = summaries.filter((one) => !isReplaced(one));
  const tokens = shown.reduce((sum, { summary }) => sum + estimateTextTokens(summary?.summary ?? ""), 0);
  return shown.length < 2 || tokens <= OLDER_SHARE * limit;
}

function rangeOf({ from_turn: from, to_turn: to }: Compaction): TurnRange {
  return { from, to };
}
