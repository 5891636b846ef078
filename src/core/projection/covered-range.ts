// Cuts a conversation into ranges of turns that the same overlays cover, so that what is hidden is decided once per
// range and never per turn. A turn cut by an event bound is a range of its own.
import type { Compaction } from "../compaction/compaction.ts";
import type { KeptHalves } from "./call-halves.ts";
import { createOverlays, cutsTurn, keptTurnsIn, mayKeepIn, type Overlay } from "./overlay.ts";

/** Turns (0-based, inclusive) under the same overlays. */
export interface CoveredRange {
  readonly from: number;
  readonly to: number;
  /** Overlays that can have a say here, newest first; what is older than one that hides every event is left out. */
  readonly overlays: readonly Overlay[];
  /** The overlay that hides these turns wholly, so that they need not be read; null when they must be. */
  readonly hiddenBy: Overlay | null;
  /** Whether some event here may be hidden or kept by name. */
  readonly hasDecisions: boolean;
  /** Whether an overlay begins or ends inside this (single) turn. */
  readonly isCut: boolean;
}

/**
 * Plans the ranges of a conversation, in order and without gaps; empty for an empty conversation. `halves` = what
 * `pairConversation` found; without them both halves of what is kept by name count as named.
 */
export function planRanges(
  turnCount: number,
  compactions: readonly Compaction[],
  halves?: ReadonlyMap<Compaction, KeptHalves>,
): readonly CoveredRange[] {
  const overlays = createOverlays(turnCount, compactions, halves);
  const starts = [...listStarts(turnCount, overlays)].sort((a, b) => a - b);
  return starts.map((from, at) => planRange(from, (starts[at + 1] ?? turnCount) - 1, overlays));
}

function listStarts(turnCount: number, overlays: readonly Overlay[]): ReadonlySet<number> {
  const starts = new Set<number>([0]);
  for (const overlay of overlays) {
    starts.add(overlay.from).add(overlay.to + 1);
    if (overlay.fromEvent !== undefined) starts.add(overlay.from + 1);
    if (overlay.toEvent !== undefined) starts.add(overlay.to);
    for (const turn of keptTurnsIn(overlay)) starts.add(turn).add(turn + 1);
  }
  for (const start of starts) if (start >= turnCount) starts.delete(start);
  return starts;
}

function planRange(from: number, to: number, overlays: readonly Overlay[]): CoveredRange {
  const active: Overlay[] = [];
  let hiddenBy: Overlay | null = null;
  let mustRead = false;
  for (const overlay of overlays) {
    if (overlay.from > from || overlay.to < from) continue;
    active.push(overlay);
    const mayKeep = mayKeepIn(overlay, from);
    const partly = mayKeep || cutsTurn(overlay, from);
    if (overlay.hides && !partly) {
      hiddenBy = mustRead ? null : overlay;
      break;
    }
    mustRead ||= mayKeep || (overlay.hides && partly);
  }
  return {
    from,
    to,
    overlays: active,
    hiddenBy,
    hasDecisions: active.some((overlay) => overlay.hides || overlay.keep !== null),
    isCut: active.some((overlay) => cutsTurn(overlay, from)),
  };
}
