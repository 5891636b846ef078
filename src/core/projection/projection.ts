// The projection: events + compactions -> view. Pure, lazy (turns that are wholly hidden are never looked at) and
// order-free: the order in which compactions are handed in does not matter. Rules: docs/FORMAT.md §5.1 and §5.3, RFD 064.
import type { Compaction } from "../compaction/compaction.ts";
import { defined } from "../defined.ts";
import type { Turn } from "../event/turn.ts";
import { pairConversation } from "./call-halves.ts";
import { type CoveredRange, planRanges } from "./covered-range.ts";
import { tellHidden } from "./hidden-notice.ts";
import type { Overlay } from "./overlay.ts";
import { findShownIndex, isIndexHidden, placeTold, type ToldRequest, tellIndex } from "./shown-index.ts";
import { createInjectedTurn, type InjectionSite, isInjected, toldIndex } from "./summary-injection.ts";
import { type Survey, type SurveyedTurn, surveyTurns } from "./survey.ts";
import type { StubOptions } from "./tool-stub.ts";
import { layOutTurn } from "./turn-layout.ts";
import type { ProjectedTurn, View } from "./view.ts";
import { omittedHalves } from "./winner.ts";

/** How shortened events are written, and what is added for the model that reads the view. */
export interface ProjectionOptions extends StubOptions {
  /** Whether a notice says how what is hidden is found: only where a view is rendered for a model with the tools. */
  readonly notice?: boolean;
}

/** What is projected. `turns` may lack the positions that `planReading` leaves out. */
export interface ProjectionInput {
  /** Number of turns of the conversation, hidden ones included. */
  readonly turnCount: number;
  /** Turns by position, 0-based. */
  readonly turns: ReadonlyMap<number, Turn>;
  /** The compactions that apply, in any order. */
  readonly compactions: readonly Compaction[];
}

/**
 * Projects a conversation. Events that nothing changes are the very objects handed in; nothing is mutated. Throws
 * `turn_not_read` (internal) when a turn of `planReading` is missing.
 */
export function project(input: ProjectionInput, options: ProjectionOptions = {}): View {
  const { turns, compactions } = input;
  const { pairs, placed, halves } = pairConversation(turns, compactions);
  const ranges = planRanges(input.turnCount, compactions, halves);
  const survey = surveyTurns(ranges, turns, placed);
  const omitted = omittedHalves(survey, placed, pairs);
  const projected: ProjectedTurn[] = [];
  const index = findShownIndex(input.turnCount, compactions);
  let isTold = false;
  const inject = (overlay: Overlay, timestamp: string): void => {
    if (!isInjected(overlay.compaction)) return;
    const told = overlay.compaction === index?.compaction ? toldIndex(overlay.compaction) : undefined;
    isTold ||= told !== undefined;
    projected.push(injectOverlay(overlay, { timestamp, ...defined({ index: told }) }, survey));
  };
  for (const range of ranges) {
    if (range.hiddenBy !== null) {
      if (isPlacedAt(range.hiddenBy, range, survey)) inject(range.hiddenBy, firstTimestamp(turns.get(range.from)));
      continue;
    }
    for (let position = range.from; position <= range.to; position += 1) {
      const seen = survey.turns.get(position) as SurveyedTurn;
      layOutTurn(seen, { survey, pairs, omitted, options, projected, inject });
    }
  }
  const told = [
    index === null || isTold || isIndexHidden(index, ranges, turns.get(index.to)) ? null : tellIndex(index),
    options.notice === true ? tellHidden(input.turnCount, compactions) : null,
  ];
  const place = (shown: readonly ProjectedTurn[], one: ToldRequest | null): readonly ProjectedTurn[] =>
    one === null ? shown : placeTold(shown, one, turns.get(one.overlay.to));
  return { turns: told.reduce(place, projected) };
}

/** Projects a conversation of which every turn is at hand (`turns` = all turns, in order). */
export function projectTurns(
  turns: readonly Turn[],
  compactions: readonly Compaction[],
  options: ProjectionOptions = {},
): View {
  const byPosition = new Map(turns.map((turn) => [turn.index, turn]));
  return project({ turnCount: turns.length, turns: byPosition, compactions }, options);
}

function isPlacedAt(overlay: Overlay, range: CoveredRange, { places }: Survey): boolean {
  return places.get(overlay)?.turn === range.from;
}

function firstTimestamp(turn: Turn | undefined): string {
  return turn?.events[0]?.timestamp ?? "";
}

function injectOverlay(
  overlay: Overlay,
  site: Pick<InjectionSite, "timestamp" | "index">,
  { endingInside }: Survey,
): ProjectedTurn {
  const { compaction, from, to } = overlay;
  return createInjectedTurn(compaction, { ...site, from, to, endsInsideTurn: endingInside.has(overlay) });
}
