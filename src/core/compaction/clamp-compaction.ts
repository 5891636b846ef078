// The copy of a mechanical compaction that ends where a fork ends: what was taken out of the turns that both have stays out,
// and nothing that the fork appends to its newest turn is touched.
import { type Compaction, withoutIndex } from "./compaction.ts";

/** Where a fork ends: its last turn, 0-based, and the last event of it. */
export interface ClampBound {
  readonly turn: number;
  readonly event: string;
}

/** Longest base of a derived id: with `-` and six digits it is one that can stand in a file name (at most 64 characters). */
const MAX_BASE = 57;

/** Names the copy of a compaction that is clamped to a turn, e.g. `k3f9q2-7`: the same wherever it is made. */
export function clampedId(id: string, turn: number): string {
  return `${id.slice(0, MAX_BASE)}-${turn}`;
}

/**
 * Copies a compaction that begins at or before the bound and ends after it. The copy keeps its time, so that it wins and loses
 * as before; what was counted and listed when the original was made (`stats`, `receipt`, `index`) is not true of it. Its `covers`, if it has one,
 * is still the original's: the caller makes it anew.
 */
export function clampCompaction(compaction: Compaction, { turn, event }: ClampBound): Compaction {
  const { stats: _stats, receipt: _receipt, ...rest } = withoutIndex(compaction);
  return { ...rest, id: clampedId(compaction.id, turn), to_turn: turn, to_event: event };
}
