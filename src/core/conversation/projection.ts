// The projection: events + compactions -> view. Pure, lazy (wholly hidden turns are never looked at), and independent of the
// order of the compactions passed in. Rules: docs/FORMAT.md §5.1 and §5.3, RFD 064.
import { appendAll } from "../lists.ts";
import { type Compaction, createInjectedTurn, type InjectionSite, indexInSummary, isInjected } from "./compaction.ts";
import type { Disposition } from "./contents/content-type.ts";
import { type CoveredRange, type Overlay, planRanges } from "./covered-range.ts";
import {
  type Event,
  type Origin,
  type ProjectedTurn,
  type Turn,
  type TurnStart,
  traitsOf,
  type View,
} from "./event.ts";
import {
  createIndexRequest,
  createNotice,
  findShownIndex,
  type InsertedRequest,
  insertRequest,
  isIndexHidden,
} from "./hidden-notice.ts";
import { shortenEvent, shortenParts } from "./shorten-event.ts";
import { isHiddenAt, type Survey, type SurveyedTurn, surveyTurns } from "./survey.ts";
import { type CallPairs, pairConversation } from "./tool-pairing.ts";
import type { StubOptions } from "./tool-stub.ts";
import { findMechanicalWinner, findPartWinners, omittedHalves } from "./winner.ts";

/** How shortened events are written, and what is added for the model that reads the view. */
export interface ProjectionOptions extends StubOptions {
  /** Whether to add a notice of how to find what is hidden: only when rendering for a model that has the tools. */
  readonly notice?: boolean;
}

/** `turns` may lack the positions that `planReading` leaves out. */
interface ProjectionInput {
  /** Number of turns of the conversation, hidden ones included. */
  readonly turnCount: number;
  /** Turns by position, 0-based. */
  readonly turns: ReadonlyMap<number, Turn>;
  /** The compactions that apply, in any order. */
  readonly compactions: readonly Compaction[];
}

/**
 * Projects a conversation. Unchanged events are the same objects as in the input; nothing is mutated. Throws `turn_not_read`
 * (internal) when a turn of `planReading` is missing.
 */
export function project(input: ProjectionInput, options: ProjectionOptions = {}): View {
  const { turns, compactions } = input;
  const { pairs, placed, halves } = pairConversation(turns, compactions);
  const ranges = planRanges(input.turnCount, compactions, halves);
  const survey = surveyTurns(ranges, turns, placed);
  const omitted = omittedHalves(survey, placed, pairs);
  const projected: ProjectedTurn[] = [];
  const index = findShownIndex(input.turnCount, compactions);
  let isIndexShown = false;
  const inject = (overlay: Overlay, timestamp: string): void => {
    if (!isInjected(overlay.compaction)) return;
    const ownIndex = overlay.compaction === index?.compaction ? indexInSummary(overlay.compaction) : undefined;
    isIndexShown ||= ownIndex !== undefined;
    projected.push(injectOverlay(overlay, { timestamp, index: ownIndex }, survey));
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
  const requests = [
    index === null || isIndexShown || isIndexHidden(index, ranges, turns.get(index.to))
      ? null
      : createIndexRequest(index),
    options.notice === true ? createNotice(input.turnCount, compactions) : null,
  ];
  const place = (shown: readonly ProjectedTurn[], one: InsertedRequest | null): readonly ProjectedTurn[] =>
    one === null ? shown : insertRequest(shown, one, turns.get(one.overlay.to));
  return { turns: requests.reduce(place, projected) };
}

/** Projects a conversation whose turns are all loaded (`turns` = all, in order). */
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

// Lays out one raw turn in the view: its shown events as one projected turn, or as several when a summary is injected inside
// it. Every projected turn starts with a turn_start; a part with nothing for the model to see is not shown.

interface LayoutContext {
  readonly survey: Survey;
  readonly pairs: CallPairs;
  /** The disposition of call halves that are omitted only because their other half is (`omittedHalves`). */
  readonly omitted: ReadonlyMap<Event, Disposition>;
  readonly options: StubOptions;
  /** The view so far; projected turns are appended. */
  readonly projected: ProjectedTurn[];
  /** Appends the injected turn of a summary or replacement, if it has one. */
  readonly inject: (overlay: Overlay, timestamp: string) => void;
}

/** A run of events of one turn that nothing is injected into. */
interface Part {
  readonly events: Event[];
  /** Whether it holds an event that a model is sent and that is not hidden. */
  visible: boolean;
  /** The first event that is not hidden, which names the part; it may itself be shortened away. */
  first?: Event;
}

/** Appends what is shown of a turn, and the summaries injected inside it, to the view. */
function layOutTurn(seen: SurveyedTurn, context: LayoutContext): void {
  const { turn, locals, deciders, hiders } = seen;
  const origin = { kind: "kept", turn: turn.index } as const;
  if (turn.events.length === 0) return;
  if (deciders.length === 0 && hiders.length === 0) {
    const events = locals.length === 0 && context.omitted.size === 0 ? turn.events : shortenAll(seen, context);
    context.projected.push({ origin, events: startPart(events, context, turn.events[0]) });
    return;
  }
  layOutParts(seen, context);
}

function shortenAll(seen: SurveyedTurn, context: LayoutContext): readonly Event[] {
  return seen.turn.events.flatMap((event, index) => shortenAt(seen, event, index, context) ?? []);
}

function shortenAt(seen: SurveyedTurn, event: Event, index: number, context: LayoutContext): Event | null {
  const winner = context.omitted.get(event) ?? findMechanicalWinner(seen.locals, event, index, context.pairs);
  const tool = event.type === "tool_call_response" ? context.pairs.get(event)?.name : undefined;
  const shown = winner === null ? event : shortenEvent(event, winner, { ...context.options, tool });
  return shown === null ? null : shortenParts(shown, findPartWinners(seen.locals, event, index));
}

function layOutParts(seen: SurveyedTurn, context: LayoutContext): void {
  const { turn } = seen;
  const [first] = turn.events;
  const start = first?.type === "turn_start" ? first : undefined;
  const placed = listParts(seen, start, context);
  const parts = placed.filter((entry) => "events" in entry);
  const isPart = parts.length > 1 || hidesVisible(seen);
  const origin: Origin = { kind: "kept", turn: turn.index, ...(isPart ? { part: true as const } : {}) };
  for (const entry of placed) {
    if (!("events" in entry)) {
      context.inject(entry, first?.timestamp ?? "");
      continue;
    }
    const events = entry === parts[0] && start !== undefined ? [start, ...entry.events] : entry.events;
    context.projected.push({ origin, events: startPart(events, context, entry.first ?? first) });
  }
}

/** The parts of a turn in order, with the overlays injected between them. Leaves out what fits no part. */
function listParts(
  seen: SurveyedTurn,
  start: TurnStart | undefined,
  context: LayoutContext,
): readonly (Part | Overlay)[] {
  const placed: (Part | Overlay)[] = [];
  let part: Part = { events: [], visible: false };
  const sites = [...context.survey.places].filter(([, { turn }]) => turn === seen.turn.index);
  const injectedAt = (position: number): readonly Overlay[] =>
    sites.flatMap(([overlay, { index }]) => (index === position ? [overlay] : []));
  for (const [index, event] of seen.turn.events.entries()) {
    const injected = injectedAt(index);
    if (injected.length > 0 && part.visible) {
      placed.push(part);
      part = { events: [], visible: false };
    }
    appendAll(placed, injected);
    if (event !== start && !isHiddenAt(seen, index)) takeEvent(part, event, shortenAt(seen, event, index, context));
  }
  const isShown = part.visible || !hidesSomething(seen);
  if (isShown) placed.push(part);
  appendAll(placed, injectedAt(seen.turn.events.length));
  if (isShown) return placed;
  const last = placed.findLast((entry): entry is Part => "events" in entry);
  if (last !== undefined) appendAll(last.events, part.events);
  return placed;
}

function takeEvent(part: Part, event: Event, shown: Event | null): void {
  part.first ??= event;
  part.visible ||= traitsOf(event).providerVisible;
  if (shown !== null) part.events.push(shown);
}

function hidesSomething(seen: SurveyedTurn): boolean {
  return seen.turn.events.some((_, index) => isHiddenAt(seen, index));
}

function hidesVisible(seen: SurveyedTurn): boolean {
  return seen.turn.events.some((event, index) => traitsOf(event).providerVisible && isHiddenAt(seen, index));
}

/**
 * Puts a synthetic turn_start before events that have none. The first turn of a view may lack one, as in the raw conversation,
 * if a model is sent something of it.
 */
function startPart(events: readonly Event[], { projected }: LayoutContext, first: Event | undefined): readonly Event[] {
  if (events[0]?.type === "turn_start" || first === undefined) return events;
  if (projected.length === 0 && events.some((event) => traitsOf(event).providerVisible)) return events;
  return [{ type: "turn_start", id: `${first.id}.turn`, timestamp: first.timestamp }, ...events];
}
