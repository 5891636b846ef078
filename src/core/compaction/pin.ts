// Pins: turns or events that every compaction leaves as they are. A pin is a record under meta/; which events it protects is
// worked out when a compaction is made, and stored there as `keep`.
import { type Event, traitsOf } from "../event/event.ts";
import { pairCalls } from "../event/tool-pairing.ts";
import type { Turn } from "../event/turn.ts";

/** What is pinned: a turn (0-based), or one event of it. */
export interface Pin {
  readonly turn: number;
  /** Id of the event; absent = the whole turn. */
  readonly event?: string;
}

/** A record under meta/ as far as pins go; records that speak of something else hold neither. */
export interface PinRecord {
  readonly pin?: unknown;
  readonly unpin?: unknown;
}

/** Gives the pins in force, in the order in which they were made; `records` = all of meta/, oldest first. Damaged ones do not count. */
export function pinsInForce(records: readonly PinRecord[]): readonly Pin[] {
  const pins = new Map<string, Pin>();
  for (const { pin, unpin } of records) {
    if (isPin(pin)) pins.set(keyOf(pin), pin);
    if (isPin(unpin)) pins.delete(keyOf(unpin));
  }
  return [...pins.values()];
}

/** Gives the turn in which a record pins something or takes that back; null when it speaks of something else. */
export function turnOfPin({ pin, unpin }: PinRecord): number | null {
  const named = [pin, unpin].find(isPin);
  return named?.turn ?? null;
}

/** Whether two pins name the same. */
export function isSamePin(a: Pin, b: Pin): boolean {
  return keyOf(a) === keyOf(b);
}

/**
 * Lists the ids of the events that pins protect, in order of the turns given. A pinned turn protects what a model is sent of
 * it; a pinned call brings its result along and the other way round, because neither is valid alone.
 */
export function pinnedEvents(pins: readonly Pin[], turns: Iterable<Turn>): readonly string[] {
  if (pins.length === 0) return [];
  const all = [...turns];
  const partners = partnersOf(all);
  const ids = new Set<string>();
  for (const { index, events } of all) {
    const here = pins.filter(({ turn }) => turn === index);
    const isWhole = here.some(({ event }) => event === undefined);
    const named = new Set(here.map(({ event }) => event));
    for (const event of events) {
      if (!(isWhole || named.has(event.id)) || !traitsOf(event).providerVisible) continue;
      ids.add(event.id);
      for (const partner of partners.get(event) ?? []) ids.add(partner.id);
    }
  }
  return [...ids];
}

function partnersOf(turns: readonly Turn[]): ReadonlyMap<Event, readonly Event[]> {
  const partners = new Map<Event, Event[]>();
  const add = (event: Event, partner: Event): void => {
    partners.set(event, [...(partners.get(event) ?? []), partner]);
  };
  for (const [response, request] of pairCalls(turns, () => false)) {
    add(response, request);
    add(request, response);
  }
  return partners;
}

/** Whether a field of a record names what is pinned. */
export function isPin(value: unknown): value is Pin {
  if (typeof value !== "object" || value === null) return false;
  const { turn, event } = value as { readonly turn?: unknown; readonly event?: unknown };
  return Number.isSafeInteger(turn) && Number(turn) >= 0 && (event === undefined || typeof event === "string");
}

function keyOf({ turn, event }: Pin): string {
  return event === undefined ? String(turn) : `${turn}:${event}`;
}
