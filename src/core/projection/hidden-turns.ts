// Which turns a projection has to read. Turns hidden by a summary or an omission are left out, so that a view costs
// what it shows and not what the conversation holds.
import type { Compaction } from "../compaction/compaction.ts";
import type { Turn } from "../event/turn.ts";
import { turnsOfOtherHalves } from "./call-halves.ts";
import { planRanges } from "./covered-range.ts";
import { isInjected } from "./summary-injection.ts";

/** What a projection needs of a turn. */
export interface TurnReading {
  /** Raw position, 0-based. */
  readonly turn: number;
  /** Whether its first event is enough: the turn is hidden, and only its time is taken. */
  readonly firstEventOnly: boolean;
}

/**
 * Plans which turns to read for a projection: raw positions, 0-based, ascending. Left out are turns that are wholly
 * hidden, except the first one of each summary or replacement, whose time the injected turn takes.
 */
export function planReading(turnCount: number, compactions: readonly Compaction[]): readonly number[] {
  return planTurnReadings(turnCount, compactions).map(({ turn }) => turn);
}

/**
 * Plans which turns to read besides, once those of `planReading` have been read: the hidden ones that may hold the other half
 * of a call. 0-based, ascending; most often none.
 */
export function planHalves(
  turnCount: number,
  compactions: readonly Compaction[],
  turns: Pick<ReadonlyMap<number, Turn>, "get">,
): readonly number[] {
  return turnsOfOtherHalves(planRanges(turnCount, compactions), turns);
}

/** The same as `planReading`, with what is needed of each turn. */
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
