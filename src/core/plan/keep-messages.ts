// Where a compaction ends that leaves the newest messages of a view alone: at the end of a turn, so that at least so many
// stay. Only a turn that holds far more than was asked for (agents' turns are hours long) is cut inside.
import { type Event, isMessage } from "../event/event.ts";
import type { ProjectedTurn, View } from "../projection/view.ts";
import type { RangeBound } from "../range/range-bound.ts";

/** Recent messages that are left alone when nobody says how many. */
export const KEEP_RECENT = 15;
/** A view of fewer messages is not worth a summary. */
export const LEAST_MESSAGES = 30;
/** Messages that whole turns may keep beyond what was asked for, before the oldest of them is cut. */
const MOST_EXTRA = 10;

/**
 * Finds where a compaction of a view may end so that at least `keep` (>= 0) of its messages stay after it. Null when no
 * message stands before them.
 */
export function keepMessages({ turns }: View, keep: number): RangeBound | null {
  const oldest = oldestKept(turns, keep);
  if (oldest === null) return null;
  const before = oldest.at === 0 ? null : boundBefore(turns, oldest.at);
  if (oldest.kept <= keep + MOST_EXTRA) return before;
  return boundInside(turns[oldest.at] as ProjectedTurn, keep - oldest.keptAfter) ?? before;
}

interface OldestKept {
  /** Position in the view of the oldest turn that stays; the number of turns when none need stay. */
  readonly at: number;
  /** Messages that stay when it stays whole, and those of the turns after it. */
  readonly kept: number;
  readonly keptAfter: number;
}

/** The newest turns that together hold the messages to keep; null when all of them hold too few. */
function oldestKept(turns: readonly ProjectedTurn[], keep: number): OldestKept | null {
  let kept = 0;
  if (keep === 0) return { at: turns.length, kept, keptAfter: 0 };
  for (let at = turns.length - 1; at >= 0; at--) {
    const keptAfter = kept;
    kept += messagesOf(turns[at] as ProjectedTurn).length;
    if (kept >= keep) return { at, kept, keptAfter };
  }
  return null;
}

/** The end of the turns before a position of the view, which is above 0; null when no message is shown before it. */
function boundBefore(turns: readonly ProjectedTurn[], at: number): RangeBound | null {
  const { origin } = turns[at - 1] as ProjectedTurn;
  const stays = turns[at];
  // A summary may end inside the turn of which the rest stays.
  const turn = Math.min(
    origin.kind === "kept" ? origin.turn : origin.to,
    stays === undefined ? Number.POSITIVE_INFINITY : firstTurn(stays) - 1,
  );
  const older = turns.slice(0, at).filter((candidate) => firstTurn(candidate) <= turn);
  return older.some((candidate) => messagesOf(candidate).length > 0) ? { type: "turn", turn } : null;
}

function firstTurn({ origin }: ProjectedTurn): number {
  return origin.kind === "kept" ? origin.turn : origin.from;
}

/** The event of a turn, of more messages than stay (`keep`, above 0), before the oldest that stays; null inside a replacement. */
function boundInside(turn: ProjectedTurn, keep: number): RangeBound | null {
  if (turn.origin.kind !== "kept") return null;
  const first = messagesOf(turn).at(-keep) as Event;
  const last = turn.events[turn.events.indexOf(first) - 1] as Event;
  return { type: "event", turn: turn.origin.turn, event: last.id };
}

function messagesOf({ origin, events }: ProjectedTurn): readonly Event[] {
  return origin.kind === "summary" ? [] : events.filter((event) => isMessage(event));
}
