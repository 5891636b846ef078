// A cut: where a conversation is compacted in hindsight. What is before it is the past that views are made of; what comes
// after it shows what of the past was needed.
import type { Event, Turn } from "../../src/core/conversation/event.ts";
import { estimateEvents } from "../../src/core/conversation/token-estimate.ts";
import { listSafeCuts } from "../../src/core/conversation/tool-pairing.ts";
import { type Session, type Stretch, visibleEvents } from "./stretch.ts";

/** A stretch, cut. */
export interface Cut {
  readonly session: Session;
  /** For people: session, stretch, share. */
  readonly name: string;
  readonly turns: readonly Turn[];
  /** The events of `turns` that a model is sent. */
  readonly past: readonly Event[];
  /** What came next in the stretch, until the agent had made `HORIZON_CALLS` calls. */
  readonly future: readonly Event[];
}

/** Where stretches are cut, as shares of their events. */
export const CUT_SHARES: readonly number[] = [0.5, 0.7];
/** How many calls the future has at most. */
export const HORIZON_CALLS = 100;
/** A stretch is long from so many tokens on, estimated: below it nobody compacts. */
export const LONG_TOKENS = 40_000;

/** Cuts a stretch; none for a short one, and none where no place is left that parts no call from its result. */
export function cutStretch(stretch: Stretch): readonly Cut[] {
  const { session, number, turns } = stretch;
  const events = visibleEvents(turns);
  if (estimateEvents(events) < LONG_TOKENS) return [];
  return CUT_SHARES.flatMap((share) => {
    const before = turnsBefore(turns, Math.ceil(share * events.length));
    if (before === null) return [];
    const past = visibleEvents(before);
    const future = horizonOf(events.slice(past.length));
    if (future.length === 0) return [];
    return [{ session, name: `${session.name} ${number + 1} at ${share * 100} %`, turns: before, past, future }];
  });
}

/** Gives the events until so many calls were made, with the results of the last. */
export function horizonOf(events: readonly Event[], calls: number = HORIZON_CALLS): readonly Event[] {
  let left = calls;
  const end = events.findIndex((event) => event.type === "tool_call_request" && left-- === 0);
  return end < 0 ? events : events.slice(0, end);
}

/** The turns up to the first safe place after so many visible events; null if there is none before the end. */
function turnsBefore(turns: readonly Turn[], count: number): readonly Turn[] | null {
  let seen = 0;
  for (const { index, events } of turns) {
    for (const cut of listSafeCuts(events)) {
      const kept = events.slice(0, cut + 1);
      if (seen + visibleEvents([{ events: kept }]).length >= count)
        return [...turns.slice(0, index), { index, events: kept }];
    }
    seen += visibleEvents([{ events }]).length;
  }
  return null;
}
