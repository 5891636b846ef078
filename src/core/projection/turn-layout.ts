// Lays one raw turn out in the view: its shown events as one projected turn, or as several when a summary is injected
// inside it. Every projected turn starts with a turn_start; a part with nothing for the model to see is not shown.
import { appendAll } from "../append-all.ts";
import { type Event, type TurnStart, traitsOf } from "../event/event.ts";
import type { CallPairs } from "../event/tool-pairing.ts";
import type { Overlay } from "./overlay.ts";
import { shortenEvent } from "./shorten-event.ts";
import { isHiddenAt, type Survey, type SurveyedTurn } from "./survey.ts";
import type { StubOptions } from "./tool-stub.ts";
import type { Origin, ProjectedTurn } from "./view.ts";
import { type Disposition, findMechanicalWinner } from "./winner.ts";

/** What laying out a turn needs beside the turn. */
export interface LayoutContext {
  readonly survey: Survey;
  readonly pairs: CallPairs;
  /** What omits the halves of calls of which only the other half is omitted (`omittedHalves`). */
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
export function layOutTurn(seen: SurveyedTurn, context: LayoutContext): void {
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
  if (winner === null) return event;
  const tool = event.type === "tool_call_response" ? context.pairs.get(event)?.name : undefined;
  return shortenEvent(event, winner, { ...context.options, tool });
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

/** The parts of a turn in order, with the overlays injected between them. What no part can take is left out. */
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
 * Puts a synthetic turn_start before events that have none. The very first turn of a view may do without, as the raw
 * conversation may, as long as a model is sent something of it.
 */
function startPart(events: readonly Event[], { projected }: LayoutContext, first: Event | undefined): readonly Event[] {
  if (events[0]?.type === "turn_start" || first === undefined) return events;
  if (projected.length === 0 && events.some((event) => traitsOf(event).providerVisible)) return events;
  return [{ type: "turn_start", id: `${first.id}.turn`, timestamp: first.timestamp }, ...events];
}
