// The blocks that turns are cut into: stretches of events between two places where a range may end (safe-cut.ts), so a call
// stays with its result and a message in one piece. Invariant: blocks are consecutive, cover every event, and hold something
// that a model is sent unless their whole turn holds nothing.
import { type Event, isMessage, traitsOf } from "../event/event.ts";
import { listSafeCuts } from "../event/safe-cut.ts";
import type { Turn } from "../event/turn.ts";

/** Events of one turn that stay together. */
export interface TurnBlock {
  readonly turn: Turn;
  /** Positions of its first and last event in the turn, 0-based, inclusive. */
  readonly first: number;
  readonly last: number;
  /** By the estimate given. */
  readonly tokens: number;
  /** Messages as the chat thresholds count them. */
  readonly messages: number;
  readonly endsTurn: boolean;
}

/** Lists the blocks of turns in order. Linear in the events. */
export function listBlocks(turns: readonly Turn[], estimate: (event: Event) => number): readonly TurnBlock[] {
  return turns.flatMap((turn) => blocksOfTurn(turn, estimate));
}

function blocksOfTurn(turn: Turn, estimate: (event: Event) => number): readonly TurnBlock[] {
  const ends = blockEnds(turn.events);
  return ends.map((last, at) => {
    const first = (ends[at - 1] ?? -1) + 1;
    let [tokens, messages] = [0, 0];
    for (const event of turn.events.slice(first, last + 1)) {
      tokens += estimate(event);
      if (isMessage(event)) messages += 1;
    }
    return { turn, first, last, tokens, messages, endsTurn: at === ends.length - 1 };
  });
}

/** The safe cuts of a turn, without those behind which, or before which, nothing is that a model sees. */
function blockEnds(events: readonly Event[]): readonly number[] {
  const lastVisible = events.findLastIndex((event) => traitsOf(event).providerVisible);
  const ends: number[] = [];
  let at = 0;
  let isSeen = false;
  for (const cut of listSafeCuts(events)) {
    for (; at <= cut; at += 1) isSeen ||= traitsOf(events[at] as Event).providerVisible;
    if (!isSeen || cut >= lastVisible) continue;
    ends.push(cut);
    isSeen = false;
  }
  return events.length === 0 ? [] : [...ends, events.length - 1];
}
