// Cuts a conversation into ranges of turns that the same overlays cover, so that hiding is decided once per range and not per
// turn. A turn cut by an event bound is a range of its own.
import { type Compaction, compareCompactions, isHiding, isInjected, type SelectedCall } from "./compaction.ts";
import type { Turn } from "./event.ts";
import { type KeptHalves, turnsOfOtherHalves } from "./tool-pairing.ts";

/** Turns (0-based, inclusive) under the same overlays. */
export interface CoveredRange {
  readonly from: number;
  readonly to: number;
  /** Overlays that can decide here, newest first; overlays older than one that hides every event are left out. */
  readonly overlays: readonly Overlay[];
  /** The overlay that hides these turns wholly, so that they need not be read; null when they must be. */
  readonly hiddenBy: Overlay | null;
  /** Whether some event here may be hidden or kept by name. */
  readonly hasDecisions: boolean;
  /** Whether an overlay begins or ends inside this (single) turn. */
  readonly isCut: boolean;
}

/**
 * Plans the ranges of a conversation, in order and without gaps; empty for an empty conversation. `halves` comes from
 * `pairConversation`; without it both halves of what is kept by name count as named.
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

/** Lists the ranges (0-based, inclusive) in which one of the compactions can decide: in others a later one hides every event. */
export function rangesDecidedBy(
  compaction: Compaction,
  { turnCount, compactions }: { readonly turnCount: number; readonly compactions: readonly Compaction[] },
): readonly Pick<CoveredRange, "from" | "to">[] {
  const ranges: { from: number; to: number }[] = [];
  for (const { from, to, overlays } of planRanges(turnCount, compactions)) {
    if (!overlays.some((overlay) => overlay.compaction === compaction)) continue;
    const last = ranges.at(-1);
    if (last?.to === from - 1) last.to = to;
    else ranges.push({ from, to });
  }
  return ranges;
}

function listStarts(turnCount: number, overlays: readonly Overlay[]): ReadonlySet<number> {
  const starts = new Set<number>([0]);
  for (const overlay of overlays) {
    starts.add(overlay.from).add(overlay.to + 1);
    if (overlay.fromEvent !== undefined) starts.add(overlay.from + 1);
    if (overlay.toEvent !== undefined) starts.add(overlay.to);
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
    const mayKeep = overlay.keep !== null;
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

// The overlay: a compaction prepared for lookups in a conversation of known length, its range clamped to it. Overlays are
// always ordered newest first, so that the first one with an opinion wins.

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
  /**
   * Other halves of calls of which this compaction keeps one half: they are not omitted, but may be shortened; null when there
   * are none.
   */
  readonly halves: KeptHalves | null;
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
    calls,
  };
}

/** Whether the overlay covers only a part of a turn. */
export function cutsTurn(overlay: Overlay, turn: number): boolean {
  const atStart = overlay.fromEvent !== undefined && overlay.from === turn;
  return atStart || (overlay.toEvent !== undefined && overlay.to === turn);
}

// Which turns a projection has to read. Hidden turns are left out, so the cost of a view depends on what it shows and not on
// the length of the conversation.

export interface TurnReading {
  /** Raw position, 0-based. */
  readonly turn: number;
  /** Whether the first event is enough: the turn is hidden, and only its time is used. */
  readonly firstEventOnly: boolean;
}

/**
 * Plans which turns to read for a projection: raw positions, 0-based, ascending. Leaves out turns that are wholly hidden,
 * except the first one of each summary or replacement, whose time the injected turn takes.
 */
export function planReading(turnCount: number, compactions: readonly Compaction[]): readonly number[] {
  return planTurnReadings(turnCount, compactions).map(({ turn }) => turn);
}

/**
 * Plans which turns to read in addition, after those of `planReading`: the hidden ones that may hold the other half of a call.
 * 0-based, ascending; usually none.
 */
export function planHalves(
  turnCount: number,
  compactions: readonly Compaction[],
  turns: Pick<ReadonlyMap<number, Turn>, "get">,
): readonly number[] {
  return turnsOfOtherHalves(planRanges(turnCount, compactions), turns);
}

/** Like planReading, with what is needed of each turn. */
export function planTurnReadings(turnCount: number, compactions: readonly Compaction[]): readonly TurnReading[] {
  const readings: TurnReading[] = [];
  const injected = new Set<Compaction>();
  for (const { from, to, hiddenBy } of planRanges(turnCount, compactions)) {
    if (hiddenBy === null) {
      for (let turn = from; turn <= to; turn += 1) readings.push({ turn, firstEventOnly: false });
    } else if (isInjected(hiddenBy.compaction) && !injected.has(hiddenBy.compaction)) {
      injected.add(hiddenBy.compaction);
      readings.push({ turn: from, firstEventOnly: true });
    }
  }
  return readings;
}
