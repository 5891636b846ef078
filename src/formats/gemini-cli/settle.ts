// Makes what is sent be what a new list of messages says. One that says the same in other words changes nothing; one that ends
// earlier went back; one that says something else in between is a compaction: what it says there, and what stays of the rest.

import { defined } from "../../core/json.ts";
import { appendAll } from "../../core/lists.ts";
import { cutChanges } from "./changes.ts";
import { type History, idOfPlace, markTold, tell } from "./history.ts";
import type { RecordPlace } from "./records.ts";
import { alignKept, alignStart, isSamePiece, wholePieces } from "./safe-places.ts";
import { commonEnd, commonStart, partsOfMessage, type SaidPart, type SentPart } from "./sent-parts.ts";
import { eventId, messageEventId, type TurnEntry } from "./turn-entry.ts";
import { goBackTo, placeHeld } from "./turns.ts";

interface Settling {
  readonly place: RecordPlace;
  /** Why something is not sent any more, where the agent did not say that. */
  readonly reason?: string;
}

/** Makes what is sent be what is said. */
export function settle(history: History, said: readonly SaidPart[], settling: Settling): void {
  const { sent } = history;
  const start = wholePieces(sent, said, commonStart(sent, said));
  const isShorter = start === said.length && settling.reason === undefined;
  if (start < sent.length && isShorter) leave(history, said, settling);
  else if (start < sent.length) replace(history, said, { ...settling, start });
  else {
    history.sent = said.slice(0, start).map((part, at) => relink(part, sent[at] as SentPart));
    addSaid(history, said.slice(start));
  }
}

/** The same part under the name that the agent's list has for it now. */
function relink(part: SaidPart, { event, entry, isFirst }: SentPart): SentPart {
  return { ...part, event, entry, isFirst };
}

/** Adds parts that no record of their own told. */
function addSaid(history: History, said: readonly SaidPart[]): void {
  for (let at = 0; at < said.length; ) {
    const { message: id, place } = said[at] as SaidPart;
    let end = at + 1;
    while (said[end]?.message === id) end++;
    const parts = said.slice(at, end);
    const record = history.records.at(place);
    const names = new Set(parts.map(({ name }) => name));
    const { pieces } = partsOfMessage({ id, record, place }, [], 0);
    const isTold = [...names].some((name) => history.told.get(id)?.has(name));
    const own = pieces.filter((piece) => names.has(piece.name) || (piece.parts.length === 0 && !isTold));
    const entry = tell(history, { id, record, place }, own, isTold ? idOfPlace(history, place) : undefined);
    appendAll(history.sent, toSent(parts, entry));
    at = end;
  }
}

/** Takes off what is not said any more: the conversation goes on from an earlier place. */
export function leave(
  history: History,
  said: readonly SaidPart[],
  { place, entry: own }: Settling & { readonly entry?: TurnEntry | undefined },
): void {
  const { sent } = history;
  const next = sent[said.length];
  const entry = own ?? next?.entry ?? null;
  const isWithin = entry !== null && sent[said.length - 1]?.entry === entry;
  if (next !== undefined && (next.entry === null || isWithin)) replace(history, said, { place, start: said.length });
  else if (entry !== null && !isWithin) takeOff(history, said, entry);
}

function takeOff(history: History, said: readonly SaidPart[], from: TurnEntry): void {
  const { sent, turns } = history;
  for (const { message, names, base } of goBackTo(turns, from)) {
    const told = base === messageEventId(message) ? history.told.get(message) : undefined;
    for (const name of names) told?.delete(name);
  }
  if (history.changes.length > 0) placeHeld(turns);
  history.changes = cutChanges(history.changes, from.order, turns.turns.at(-1)?.entries.at(-1));
  history.sent = said.map((part, at) => relink(part, sent[at] as SentPart));
}

/** Gives parts the entry that holds them. */
export function toSent(parts: readonly SaidPart[], entry: TurnEntry | null): readonly SentPart[] {
  return parts.map((part) => ({ ...part, entry, event: entry === null ? "" : eventId(entry.base, part.name) }));
}

/** Replaces what is sent from a place on, but for what is still said at the end. */
function replace(
  history: History,
  said: readonly SaidPart[],
  { place, start: first, reason }: Settling & { readonly start: number },
): void {
  const { sent, turns } = history;
  placeHeld(turns);
  const start = alignStart(sent, first);
  // A list that stands in the place of nothing would not be shown.
  const kept = alignKept(sent, Math.max(start + 1, sent.length - commonEnd(sent, said, start)));
  const middle = said.slice(start, said.length - (sent.length - kept));
  const last = turns.turns.at(-1)?.entries.at(-1);
  const id = idOfPlace(history, place);
  const pieces: { readonly message: string; readonly name: string; readonly place: RecordPlace }[] = [];
  const made = middle.map((part): SentPart => {
    if (!isSamePiece(part, pieces.at(-1) as SaidPart | undefined)) pieces.push(part);
    markTold(history, part.message, part.name);
    return { ...part, event: `${id}.${pieces.length - 1}`, entry: null };
  });
  const from = start === 0 ? null : (sent[start]?.entry ?? null);
  const keep = [...new Set(sent.slice(kept).flatMap(({ entry }) => entry ?? []))];
  const { timestamp } = history;
  if (last !== undefined) history.changes.push({ id, timestamp, from, last, keep, pieces, ...defined({ reason }) });
  history.sent = [
    ...sent.slice(0, start).map((part, at) => relink(said[at] as SaidPart, part)),
    ...made,
    ...sent.slice(kept).map((part, at) => relink(said[start + middle.length + at] as SaidPart, part)),
  ];
}
