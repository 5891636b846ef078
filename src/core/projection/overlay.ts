// The overlay: a compaction made ready for lookups against a conversation of known length, its range clamped to it.
// Overlays are always ordered newest first, so that the first one with an opinion wins.
import { type Compaction, compareCompactions, isHiding, type SelectedCall } from "../compaction/compaction.ts";
import { keptTurnsOf } from "../compaction/kept-turns.ts";
import type { KeptHalves } from "./call-halves.ts";

/** A compaction clamped to a conversation. Turn positions are 0-based and inclusive; from <= to < turn count. */
export interface Overlay {
  readonly compaction: Compaction;
  readonly from: number;
  readonly to: number;
  /** First event covered inside `from`; absent = the turn's first. */
  readonly fromEvent?: string;
  /** Last event covered inside `to`; absent = the turn's last. */
  readonly toEvent?: string;
  /** Whether it is a summary, a replacement or an omission of turns. */
  readonly hides: boolean;
  /** Ids of the events that stay unchanged; null when there are none. */
  readonly keep: ReadonlySet<string> | null;
  /** Other halves of calls of which one half stays: they are not left out, but may be shortened; null when there are none. */
  readonly halves: KeptHalves | null;
  /** The turns that must be looked at for those that stay, by raw position; null when each of the range must be. */
  readonly keptTurns: ReadonlySet<number> | null;
  /** Calls named by a selective policy, by id of the request event; null for other policies. */
  readonly calls: ReadonlyMap<string, SelectedCall> | null;
}

/** Creates the overlays of those compactions that cover a turn, newest first. Inverted and past-end ranges give none. */
export function createOverlays(
  turnCount: number,
  compactions: readonly Compaction[],
  halves: ReadonlyMap<Compaction, KeptHalves> = new Map(),
): readonly Overlay[] {
  return compactions
    .filter((compaction) => compaction.from_turn <= compaction.to_turn && compaction.to_turn >= 0)
    .filter((compaction) => compaction.from_turn < turnCount)
    .sort((a, b) => compareCompactions(b, a))
    .map((compaction) => createOverlay(turnCount, compaction, halves.get(compaction) ?? null));
}

function createOverlay(turnCount: number, compaction: Compaction, halves: KeptHalves | null): Overlay {
  const {
    from_turn: from,
    to_turn: to,
    from_event: fromEvent,
    to_event: toEvent,
    keep,
    tool_calls: tools,
  } = compaction;
  const calls = tools?.policy === "selective" ? new Map(tools.calls.map((call) => [call.event, call])) : null;
  return {
    compaction,
    from: Math.max(from, 0),
    to: Math.min(to, turnCount - 1),
    ...(fromEvent !== undefined && from >= 0 ? { fromEvent } : {}),
    ...(toEvent !== undefined && to < turnCount ? { toEvent } : {}),
    hides: isHiding(compaction),
    keep: keep !== undefined && keep.length > 0 ? new Set(keep) : null,
    halves,
    keptTurns: keptTurnsOf(compaction),
    calls,
  };
}

/** The turns of an overlay's range that are known to hold something that it keeps. */
export function keptTurnsIn({ from, to, keptTurns, halves }: Overlay): readonly number[] {
  return [...(keptTurns ?? []), ...(halves?.turns ?? [])].filter((turn) => from <= turn && turn <= to);
}

/** Whether the overlay may keep something of a turn by name. */
export function mayKeepIn({ keep, keptTurns, halves }: Overlay, turn: number): boolean {
  return keep !== null && (keptTurns === null || keptTurns.has(turn) || halves?.turns.has(turn) === true);
}

/** Whether the overlay covers only a part of a turn. */
export function cutsTurn(overlay: Overlay, turn: number): boolean {
  const atStart = overlay.fromEvent !== undefined && overlay.from === turn;
  return atStart || (overlay.toEvent !== undefined && overlay.to === turn);
}
