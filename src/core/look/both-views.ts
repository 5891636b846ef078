// Aligns the raw conversation with its view, turn by turn: every event once, with what the model sees of it and which
// compaction decides so; what replaces hidden events is where the model reads it.

import type { Disposition } from "../conversation/contents/content-type.ts";
import {
  type Content,
  type Event,
  isText,
  type ProjectedTurn,
  type Text,
  type Turn,
  traitsOf,
  type View,
} from "../conversation/event.ts";
import { appendAll } from "../lists.ts";

/** How a view shows an event: `shown` as it is, `changed`, `hidden`; `internal`: no model sees its kind. */
export type EventState = "shown" | "changed" | "hidden" | "internal";

export interface EventRow {
  readonly kind: "event";
  readonly event: Event;
  readonly state: EventState;
  /** The compaction that decides over it; absent = none. */
  readonly disposition?: Disposition;
  /** What the model sees instead, when it is changed. */
  readonly shown?: Event;
}

/** What only the view has: a summary, or events that replace turns. */
export interface InsertedRow {
  readonly kind: "inserted";
  readonly compaction: string;
  readonly as: "summary" | "replacement" | "index";
  /** Turn positions that it replaces, 0-based, inclusive. */
  readonly from: number;
  readonly to: number;
  readonly events: readonly Event[];
}

export type BothRow = EventRow | InsertedRow;

export interface BothTurn {
  /** Position, 0-based. */
  readonly turn: number;
  readonly rows: readonly BothRow[];
}

interface BothInput {
  /** Turns of the conversation, in order; others are not in the result. */
  readonly turns: readonly Turn[];
  readonly view: View;
  /** The result of `resolveDispositions` for these turns. */
  readonly dispositions: ReadonlyMap<string, Disposition>;
}

/** Whether and how the view shows a raw event; `shown` = the event of that id in the view. */
export function stateOf(event: Event, shown: Event | undefined): EventState {
  if (shown !== undefined) return shown === event ? "shown" : "changed";
  return traitsOf(event).providerVisible ? "hidden" : "internal";
}

/**
 * Aligns the two, each in its own order. An insertion comes before the first event that it replaces, but after the shown events
 * that precede it in the view.
 */
export function alignViews({ turns, view, dispositions }: BothInput): readonly BothTurn[] {
  const { shown, inserted } = readView(view, new Set(turns.flatMap(({ events }) => events.map(({ id }) => id))));
  const seen = new Set<string>();
  let next = 0;
  /** Takes the insertions up to the last one that is due. */
  const take = (isDue: (place: Insertion) => boolean): readonly InsertedRow[] => {
    const from = next;
    next = Math.max(next, inserted.findLastIndex((place, at) => at >= from && isDue(place)) + 1);
    return inserted.slice(from, next).map(({ row }) => row);
  };
  return turns.map(({ index, events }) => {
    const rows: BothRow[] = [];
    for (const event of events) {
      const disposition = dispositions.get(event.id);
      const hider = disposition?.action === "hide" ? disposition.compaction.id : undefined;
      const due = take(
        ({ row, after, before }) =>
          before === event.id || (row.compaction === hider && (after === undefined || seen.has(after))),
      );
      appendAll(rows, due);
      rows.push(eventRow(event, shown.get(event.id), disposition));
      seen.add(event.id);
    }
    appendAll(
      rows,
      take(({ row, before }) => before === undefined && row.to === index),
    );
    return { turn: index, rows };
  });
}

/** An insertion of the view, between two of the loaded events. */
interface Insertion {
  readonly row: InsertedRow;
  readonly after?: string;
  readonly before?: string;
}

function readView(
  view: View,
  loaded: ReadonlySet<string>,
): { readonly shown: ReadonlyMap<string, Event>; readonly inserted: readonly Insertion[] } {
  const shown = new Map<string, Event>();
  const inserted: Insertion[] = [];
  let pending: Insertion[] = [];
  let last: string | undefined;
  for (const turn of view.turns) {
    const row = insertedRow(turn);
    if (row !== null) {
      pending.push({ row, after: last });
      continue;
    }
    for (const event of turn.events) {
      shown.set(event.id, event);
      if (!loaded.has(event.id)) continue;
      for (const place of pending) inserted.push({ ...place, before: event.id });
      pending = [];
      last = event.id;
    }
  }
  return { shown, inserted: [...inserted, ...pending] };
}

function eventRow(event: Event, shown: Event | undefined, disposition: Disposition | undefined): EventRow {
  const state = stateOf(event, shown);
  return {
    kind: "event",
    event,
    state,
    disposition,
    ...(state === "changed" && shown !== undefined ? { shown } : {}),
  };
}

function insertedRow({ origin, events }: ProjectedTurn): InsertedRow | null {
  if (origin.kind === "kept") return null;
  const { kind, compaction, from, to } = origin;
  return { kind: "inserted", compaction, as: kind, from, to, events };
}

/** Positions, 0-based, inclusive. */
export interface Piece {
  readonly from: number;
  readonly to: number;
}

export interface CutLimits {
  /** Most that the sizes of a piece add up to; a larger item is a piece of its own. */
  readonly size: number;
  /** Most items of a piece. */
  readonly count: number;
}

/** Size of a payload under `attachments/`, characters: the event does not have its length. */
const PAYLOAD = 100_000;
/** Size of every row in addition to its text, characters. */
const ROW = 200;

/** Cuts items of these sizes, in order, into consecutive pieces. */
export function cutPage(sizes: readonly number[], { size, count }: CutLimits): readonly Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  let sum = 0;
  for (const [at, own] of sizes.entries()) {
    if (at > from && (sum + own > size || at - from === count)) {
      pieces.push({ from, to: at - 1 });
      from = at;
      sum = 0;
    }
    sum += own;
  }
  if (from < sizes.length) pieces.push({ from, to: sizes.length - 1 });
  return pieces;
}

/** Approximate size of a row on a page, characters. */
export function rowSize(row: BothRow): number {
  const events = row.kind === "inserted" ? row.events : row.shown === undefined ? [row.event] : [row.event, row.shown];
  return events.reduce((sum, event) => sum + eventSize(event), ROW);
}

function eventSize(event: Event): number {
  switch (event.type) {
    case "chat_request":
    case "tool_call_response":
      return contentSize(event.content);
    case "chat_response":
      return contentSize(event.message ?? event.reasoning ?? "");
    case "tool_call_request":
      return argumentsSize(event.arguments);
    default:
      return 0;
  }
}

function contentSize(content: Content): number {
  if (isText(content)) return textSize(content);
  return content.reduce((sum, part) => {
    if ("text" in part && part.text !== undefined) return sum + textSize(part.text);
    return sum + ("data" in part && part.data !== undefined ? textSize(part.data) : 0);
  }, 0);
}

function textSize(text: Text): number {
  return typeof text === "string" ? text.length : PAYLOAD;
}

/** Only direct texts count: deeper ones are usually small. */
function argumentsSize(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((sum, one) => sum + (typeof one === "string" ? one.length : ROW), 0);
}
