// Plans a stream so that jp sends what the view shows: raw turns under overlays where jp can express a compaction, so that jp's user
// can revert it; else the view's own events. Decided by projecting, not by policy names.
import { type Compaction, compareCompactions } from "../../core/conversation/compaction.ts";
import { type Event, type ProjectedTurn, type Turn, traitsOf, type View } from "../../core/conversation/event.ts";
import { projectTurns } from "../../core/conversation/projection.ts";
import { pairCalls } from "../../core/conversation/tool-pairing.ts";
import { appendAll } from "../../core/lists.ts";
import type { DraftHistory } from "../agent-format.ts";
import { deriveName, lineName } from "../imported-session.ts";
import { stringOf } from "../session-source.ts";
import { AFTER_KEY, type JpOverlay, type OverlayPolicies, toOverlay } from "./compactions.ts";

export interface NamedEvent {
  readonly name: string;
  readonly event: Event;
}

/** An overlay over turns of the draft. */
export interface NamedOverlay extends JpOverlay {
  /** The compaction that it shows. */
  readonly id: string;
  /** The event that it follows; absent = placed by its time. */
  readonly after?: string;
}

export interface StreamDraft {
  readonly turns: readonly (readonly NamedEvent[])[];
  readonly overlays: readonly NamedOverlay[];
  /** Whether it mixes turns that were not consecutive: then only a result in the same turn answers a call. */
  readonly isMixed: boolean;
}

/** What one turn of the view becomes: raw turns under a policy, or the view's events. */
interface Piece {
  readonly turns: StreamDraft["turns"];
  readonly policies: OverlayPolicies;
  /** The summary's compaction. */
  readonly compaction?: string;
}

const CALL_POLICIES: readonly OverlayPolicies[] = [
  {},
  { tool_calls: { policy: "strip", request: false, response: true } },
  { tool_calls: { policy: "strip", request: true, response: false } },
  { tool_calls: { policy: "strip", request: true, response: true } },
  { tool_calls: { policy: "omit" } },
];
const POLICIES: readonly OverlayPolicies[] = CALL_POLICIES.flatMap((policies): readonly OverlayPolicies[] => [
  policies,
  { reasoning: "strip", ...policies },
]);

/** Plans a stream of what the view says. */
export function planShown(view: View): StreamDraft {
  return { turns: view.turns.map(shownEvents), overlays: [], isMixed: false };
}

/**
 * Plans a stream of raw turns and overlays; null without history or compactions, or if jp cannot express it. jp repairs its file,
 * not what it sends: no overlay may separate a result from its call, or hide the first request.
 */
export function planLayered(view: View, history: DraftHistory | undefined): StreamDraft | null {
  if (history === undefined || history.compactions.length === 0) return null;
  const [raw, shown] = [turnsOf(history.view), turnsOf(view)];
  if (hasCrossingCalls(raw) || hasCrossingCalls(shown)) return null;
  const draft = planWhole(view, raw, history.compactions) ?? planPieces(view, raw, history.compactions);
  const first = draft.turns.flat().find(({ event }) => traitsOf(event).providerVisible);
  return first?.event.type === "chat_request" ? draft : null;
}

function turnsOf({ turns }: View): readonly Turn[] {
  return turns.map(({ events }, index) => ({ index, events }));
}

/** Whether any call has its result in another turn. */
function hasCrossingCalls(turns: readonly Turn[]): boolean {
  const turnOf = new Map(turns.flatMap(({ index, events }) => events.map((event) => [event, index] as const)));
  return [...pairCalls(turns, () => false)].some(([result, call]) => turnOf.get(result) !== turnOf.get(call));
}

/** All turns under the compactions as they are; null if jp would show something else. */
function planWhole(view: View, raw: readonly Turn[], compactions: readonly Compaction[]): StreamDraft | null {
  const overlays = compactions.toSorted(compareCompactions).flatMap((compaction): NamedOverlay[] => {
    const overlay = toOverlay(compaction);
    const after = stringOf(compaction.metadata ?? {}, AFTER_KEY);
    const placed = { id: compaction.id, after };
    return overlay === null ? [] : [{ ...overlay, to: Math.min(overlay.to, raw.length - 1), ...placed }];
  });
  if (overlays.length < compactions.length || !areInjectedOnce(overlays, raw.length)) return null;
  const projected = projectTurns(raw, overlays.map(toCompaction));
  return isSameShown(projected.turns, view.turns) ? { turns: raw.map(rawEvents), overlays, isMixed: true } : null;
}

/** jp injects a summary once per run of turns that it wins, jpg only once. */
function areInjectedOnce(overlays: readonly NamedOverlay[], turnCount: number): boolean {
  const summaries = overlays.filter(({ summary }) => summary !== undefined);
  const winners = Array.from({ length: turnCount }, (_, turn) =>
    summaries.findLast(({ from, to }) => from <= turn && turn <= to),
  );
  const runs = winners.filter((winner, turn) => winner !== undefined && winner !== winners[turn - 1]);
  return new Set(runs).size === runs.length;
}

/** Plans each turn of the view separately. */
function planPieces(view: View, raw: readonly Turn[], compactions: readonly Compaction[]): StreamDraft {
  const newest = compactions.toSorted(compareCompactions).at(-1) as Compaction;
  const timeOf = (id: string): string => compactions.find((one) => one.id === id)?.timestamp ?? newest.timestamp;
  const turns: (readonly NamedEvent[])[] = [];
  const overlays: NamedOverlay[] = [];
  for (const shown of view.turns) {
    const piece = planPiece(shown, view, raw);
    const [from, to] = [turns.length, turns.length + piece.turns.length - 1];
    appendAll(turns, piece.turns);
    const last = overlays.at(-1);
    if (Object.keys(piece.policies).length === 0) continue;
    if (piece.compaction !== undefined) {
      const { compaction: id } = piece;
      overlays.push({ id, timestamp: timeOf(id), from, to, ...piece.policies });
    } else if (last?.to === from - 1 && isEqual(policiesOf(last), piece.policies)) {
      overlays.splice(-1, 1, { ...last, to });
    } else {
      const id = deriveName(`${newest.id}.${from}`);
      overlays.push({ id, timestamp: newest.timestamp, from, to, ...piece.policies });
    }
  }
  return { turns, overlays, isMixed: true };
}

function planPiece(shown: ProjectedTurn, view: View, raw: readonly Turn[]): Piece {
  const { origin } = shown;
  if (origin.kind === "kept" && origin.part === undefined) {
    const turn = raw[origin.turn];
    const policies = turn === undefined ? undefined : POLICIES.find((one) => isShownBy(one, turn, shown));
    if (turn !== undefined && policies !== undefined) return { turns: [rawEvents(turn)], policies };
  }
  const summary = origin.kind === "summary" && isWhole(shown, view) ? pairedSummary(shown) : null;
  if (origin.kind !== "summary" || summary === null) return { turns: [shownEvents(shown)], policies: {} };
  const turns = raw.slice(origin.from, origin.to + 1).map(rawEvents);
  return { turns, policies: { summary }, compaction: origin.compaction };
}

function isShownBy(policies: OverlayPolicies, turn: Turn, shown: ProjectedTurn): boolean {
  const overlay = { id: "candidate", timestamp: "", from: 0, to: 0, ...policies };
  return isSameShown(projectTurns([{ ...turn, index: 0 }], [toCompaction(overlay)]).turns, [shown]);
}

/** Whether no other turn of the view comes from the turns that a summary replaces. */
function isWhole({ origin }: ProjectedTurn, view: View): boolean {
  if (origin.kind !== "summary") return false;
  return view.turns.every(({ origin: other }) => {
    const [from, to] = other.kind === "kept" ? [other.turn, other.turn] : [other.from, other.to];
    return other === origin || to < origin.from || from > origin.to;
  });
}

/** The text of a summary in jp's form, a request and its answer; null for others. */
function pairedSummary({ events }: ProjectedTurn): string | null {
  const [request, answer, ...more] = events.filter((event) => traitsOf(event).providerVisible);
  if (request?.type !== "chat_request" || answer?.type !== "chat_response" || more.length > 0) return null;
  return request.metadata?.origin === "summary" && typeof answer.message === "string" ? answer.message : null;
}

function rawEvents({ events }: Turn): readonly NamedEvent[] {
  return events.map((event) => ({ name: event.id, event }));
}

/** The lines of a summary are named after its compaction. */
function shownEvents({ origin, events }: ProjectedTurn): readonly NamedEvent[] {
  if (origin.kind !== "summary") return events.map((event) => ({ name: event.id, event }));
  let count = 0;
  return events.map((event) => {
    const isSent = traitsOf(event).providerVisible;
    return { name: isSent ? lineName(origin.compaction, count++) : event.id, event };
  });
}

function toCompaction({ id, timestamp, from, to, ...overlay }: NamedOverlay): Compaction {
  const { summary, ...policies } = policiesOf(overlay);
  const text = summary === undefined ? {} : { summary: { summary } };
  return { type: "compaction", id, timestamp, from_turn: from, to_turn: to, ...text, ...policies };
}

function policiesOf({ summary, reasoning, tool_calls: calls }: OverlayPolicies): OverlayPolicies {
  return {
    summary,
    reasoning,
    tool_calls: calls,
  };
}

/** Whether two views send the same, turn by turn. */
function isSameShown(some: readonly ProjectedTurn[], others: readonly ProjectedTurn[]): boolean {
  return some.length === others.length && some.every((turn, at) => isEqual(sentOf(turn), sentOf(others[at])));
}

/** What a turn sends, without its makers. */
function sentOf(turn: ProjectedTurn | undefined): readonly unknown[] {
  return (turn?.events ?? [])
    .filter((event) => traitsOf(event).providerVisible)
    .map(({ metadata: _, id: __, timestamp: ___, ...sent }) => sent);
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
