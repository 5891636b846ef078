// How turns that lie apart are left out: by as few compactions as can say it. One covers from the first to the last of them and
// keeps what stands between by name (`keep`). But `keep` also ends what older compactions say about an event: where one of them
// shortens what stands between, it would come back whole, so that there the compaction ends and another begins.
import type { Compaction } from "../compaction/compaction.ts";
import type { Turn } from "../event/turn.ts";
import { rangesIntersect, type TurnRange } from "../range/turn-range.ts";

/** One compaction that leaves turns out. Positions 0-based, inclusive. */
export interface Omission extends TurnRange {
  /** Ids of the events of the turns inside the range that stay; empty when it has no gap. */
  readonly keep: readonly string[];
}

/** Most events that one record keeps by name: records are read with each view. */
const MOST_KEPT = 2000;

/**
 * Plans the omission of runs of turns (0-based, inclusive, ascending, apart from each other), oldest first. `turns` must hold
 * those between them.
 */
export function planOmissions(
  runs: readonly TurnRange[],
  { turns, compactions }: { readonly turns: ReadonlyMap<number, Turn>; readonly compactions: readonly Compaction[] },
): readonly Omission[] {
  const omissions: Omission[] = [];
  for (const run of runs) {
    const last = omissions.at(-1);
    const gap = last === undefined ? null : { from: last.to + 1, to: run.from - 1 };
    const kept = gap === null || isTouched(gap, compactions) ? null : eventsIn(gap, turns);
    if (last === undefined || kept === null || last.keep.length + kept.length > MOST_KEPT) {
      omissions.push({ from: run.from, to: run.to, keep: [] });
    } else {
      omissions[omissions.length - 1] = { from: last.from, to: run.to, keep: [...last.keep, ...kept] };
    }
  }
  return omissions;
}

function isTouched(gap: TurnRange, compactions: readonly Compaction[]): boolean {
  return compactions.some(({ from_turn, to_turn }) => rangesIntersect(gap, { from: from_turn, to: to_turn }));
}

/** Null when a turn is not at hand: what cannot be named cannot be kept. */
function eventsIn(gap: TurnRange, turns: ReadonlyMap<number, Turn>): readonly string[] | null {
  const ids: string[] = [];
  for (let position = gap.from; position <= gap.to; position += 1) {
    const turn = turns.get(position);
    if (turn === undefined) return null;
    for (const { id } of turn.events) ids.push(id);
  }
  return ids;
}
