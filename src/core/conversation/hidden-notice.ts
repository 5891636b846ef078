// The notice of what a view hides, for the model that reads it: what is not shown, and which tools find it. It is added once,
// when a view is rendered for a model that has these tools, and no stored view has it (docs/decisions/what-pays.md).
import { type Compaction, type HiddenIndex, isHiding } from "./compaction.ts";
import { CONTENT_TYPES, mapPolicies } from "./contents/content-types.ts";
import { type CoveredRange, createOverlays, type Overlay } from "./covered-range.ts";
import { SEARCH_TOOL, SHOW_TOOL } from "./defined-tools.ts";
import {
  type ChatRequest,
  type Event,
  INDEX_ORIGIN,
  NOTICE_ORIGIN,
  type Origin,
  type ProjectedTurn,
  type Turn,
  traitsOf,
  type View,
} from "./event.ts";
import { coversEvent, localizeOverlays } from "./survey.ts";
import { listSafeCuts } from "./tool-pairing.ts";

/** Creates the notice of a view, to be placed after the newest compaction that hides something; null when none does. */
export function createNotice(turnCount: number, compactions: readonly Compaction[]): InsertedRequest | null {
  const overlays = createOverlays(
    turnCount,
    compactions.filter((compaction) => hiddenKinds(compaction).length > 0),
  );
  const [overlay] = overlays;
  if (overlay === undefined) return null;
  const from = Math.min(...overlays.map((one) => one.from));
  const to = Math.max(...overlays.map((one) => one.to));
  const hidden = new Set(overlays.flatMap(({ compaction }) => hiddenKinds(compaction)));
  const kinds = KINDS.filter((kind) => hidden.has(kind)).join(", ");
  const turns = from === to ? `turn ${from}` : `turns ${from}-${to}`;
  const content = `Parts of ${turns} are kept but not shown here: ${kinds}. jpg's tool \`${SEARCH_TOOL}\` finds what you miss by words near it, \`${SHOW_TOOL}\` gives the original.`;
  return {
    overlay,
    toRequest: (timestamp) => ({
      type: "chat_request",
      id: noticeId(overlay.compaction.id),
      timestamp,
      role: "system",
      content,
      metadata: { origin: NOTICE_ORIGIN },
    }),
  };
}

/** The id of the notice after a compaction's range. */
export function noticeId(compaction: string): string {
  return `${compaction}.notice`;
}

const TURNS = "whole turns";
/** The order in which kinds are named: most of what views hide are calls. */
const KINDS: readonly string[] = [
  TURNS,
  ...new Set(["tool calls", ...CONTENT_TYPES.flatMap(({ noun }) => noun ?? [])]),
];

function hiddenKinds(compaction: Compaction): readonly string[] {
  const contents = mapPolicies(compaction, ({ noun }) => noun).filter((noun) => noun !== undefined);
  return isHiding(compaction) ? [TURNS, ...contents] : contents;
}

/** Returns a view without its notice: for a model that is not offered the tools which the notice names. */
export function withoutNotice({ turns }: View): View {
  return {
    turns: turns.filter(({ events }) => !events.some(({ metadata }) => metadata?.origin === NOTICE_ORIGIN)),
  };
}

/** An overlay whose index a view shows. */
interface IndexOverlay extends Overlay {
  readonly compaction: Compaction & { readonly index: HiddenIndex };
}

/** Finds the overlay whose index is shown: the newest that has one and ends on the branch; null when none does. */
export function findShownIndex(turnCount: number, compactions: readonly Compaction[]): IndexOverlay | null {
  const having = compactions.filter(({ index, to_turn: to }) => index !== undefined && to < turnCount);
  return (createOverlays(turnCount, having)[0] as IndexOverlay | undefined) ?? null;
}

/**
 * Whether a newer summary, replacement or omission covers the place of an index, the end of its range: the index is then hidden
 * like the events around it, as when an agent compacts a session that contains an index. `turn` = the turn in which the range
 * ends, undefined where that is hidden whole.
 */
export function isIndexHidden(index: IndexOverlay, ranges: readonly CoveredRange[], turn: Turn | undefined): boolean {
  const range = ranges.find(({ from, to }) => from <= index.to && index.to <= to);
  if (range === undefined) return false;
  const own = range.overlays.findIndex(({ compaction }) => compaction === index.compaction);
  const newer = own < 0 ? range.overlays : range.overlays.slice(0, own);
  if (turn === undefined) return newer.some(({ hides }) => hides);
  const end = turn.events.findIndex(({ id }) => id === index.toEvent);
  const place = end < 0 ? turn.events.length - 1 : end;
  return localizeOverlays({ ...range, overlays: newer }, turn).some(
    (local) => local.overlay.hides && coversEvent(local, place),
  );
}

/** A request that nobody typed, and the overlay after whose range it is placed. */
export interface InsertedRequest {
  readonly overlay: Overlay;
  /** Takes the time of the event before it, else of the one after it. */
  toRequest(timestamp: string): ChatRequest;
}

/** The id of a compaction's index when it is a request of its own. */
export function indexId(compaction: string): string {
  return `${compaction}.index`;
}

/** Creates the index as a request of its own. */
export function createIndexRequest(overlay: IndexOverlay): InsertedRequest {
  const { id, index } = overlay.compaction;
  return {
    overlay,
    toRequest: (timestamp) => ({
      type: "chat_request",
      id: indexId(id),
      timestamp,
      content: index.text,
      metadata: { origin: INDEX_ORIGIN },
    }),
  };
}

/** Inserts a request into the turns of a view; `turn` = the raw turn in which the range ends, if it is loaded. */
export function insertRequest(
  turns: readonly ProjectedTurn[],
  inserted: InsertedRequest,
  turn: Turn | undefined,
): readonly ProjectedTurn[] {
  const { overlay } = inserted;
  const isAfter = eventsAfter(overlay, turn);
  const at = turns.findIndex((projected) => startsAfter(projected, overlay) || projected.events.some(isAfter));
  if (at < 0) return [...turns, createRequestTurn(inserted, turns)];
  const next = turns[at] as ProjectedTurn;
  const [before, after] = splitTurn(next, startsAfter(next, overlay) ? 0 : next.events.findIndex(isAfter));
  const shown = [...turns.slice(0, at), ...before];
  return [...shown, createRequestTurn(inserted, shown, after.events), after, ...turns.slice(at + 1)];
}

/** Whether a projected turn shows or replaces what follows the turn in which the range ends. */
function startsAfter({ origin }: ProjectedTurn, { to }: Overlay): boolean {
  return (origin.kind === "kept" ? origin.turn : origin.from) > to;
}

/**
 * Returns a predicate for events that a model sees and that follow the range in its last turn, after any message and results
 * that it cuts.
 */
function eventsAfter({ toEvent }: Overlay, turn: Turn | undefined): (event: Event) => boolean {
  const end = turn?.events.findIndex(({ id }) => id === toEvent) ?? -1;
  if (turn === undefined || end < 0) return () => false;
  const cut = listSafeCuts(turn.events).find((place) => place >= end) ?? turn.events.length;
  const following = new Set(turn.events.slice(cut + 1).flatMap((event) => (isSeen(event) ? [event.id] : [])));
  return ({ id }) => following.has(id);
}

/** Splits a turn before the event at a position; a first part without anything that a model sees is dropped. */
function splitTurn(projected: ProjectedTurn, at: number): readonly [readonly ProjectedTurn[], ProjectedTurn] {
  const { origin, events } = projected;
  const [first, rest] = [events.slice(0, at), events.slice(at)];
  if (!first.some(isSeen)) return [[], { origin, events: started(events) }];
  const part: Origin = origin.kind === "kept" ? { ...origin, part: true } : origin;
  return [[{ origin: part, events: first }], { origin: part, events: started(rest) }];
}

/** Every turn but a view's first begins with a turn_start. */
function started(events: readonly Event[]): readonly Event[] {
  const [first] = events;
  if (first === undefined || first.type === "turn_start") return events;
  return [{ type: "turn_start", id: `${first.id}.turn`, timestamp: first.timestamp }, ...events];
}

function createRequestTurn(
  { overlay, toRequest: tell }: InsertedRequest,
  before: readonly ProjectedTurn[],
  after: readonly Event[] = [],
): ProjectedTurn {
  const { compaction, to } = overlay;
  const timestamp = (before.at(-1)?.events.at(-1) ?? after[0] ?? compaction).timestamp;
  const request = tell(timestamp);
  return {
    origin: { kind: "index", from: to, to, compaction: compaction.id },
    events: [{ type: "turn_start", id: `${request.id}.turn`, timestamp }, request],
  };
}

function isSeen(event: Event): boolean {
  return traitsOf(event).providerVisible;
}
