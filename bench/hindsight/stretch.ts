// A session as stretches between the agent's own compactions: in each, the model saw all that was said since, behind what the
// compaction left. Every stretch is a conversation of its own, so that it can be cut and compacted as one.
import { type Compaction, compareCompactions, isHiding } from "../../src/core/conversation/compaction.ts";
import { type Event, type ProjectedTurn, type Turn, traitsOf } from "../../src/core/conversation/event.ts";
import { projectTurns } from "../../src/core/conversation/projection.ts";

/** A session as it was imported, all turns read. */
export interface Session {
  readonly name: string;
  /** Name of its format. */
  readonly agent: string;
  /** Folder that the agent worked in. */
  readonly cwd?: string | undefined;
  readonly turns: readonly Turn[];
  /** The agent's own, in any order. */
  readonly compactions: readonly Compaction[];
}

/** What a model saw between two compactions, in order. */
export interface Stretch {
  readonly session: Session;
  /** Position among those of the session, 0-based. */
  readonly number: number;
  /** The turns of the view, numbered from 0; the first may be what the compaction before put there. */
  readonly turns: readonly Turn[];
}

/** Splits a session at each compaction that hides turns; those that only clear results of tools part nothing. */
export function listStretches(session: Session): readonly Stretch[] {
  const { turns } = session;
  const own = session.compactions.filter(isHiding).sort(compareCompactions);
  return [...own, undefined].flatMap((next, number) => {
    const view = projectTurns(turns, own.slice(0, number));
    const shown = next === undefined ? view.turns : upTo(view.turns, next);
    const kept = shown
      .map(({ events }) => events)
      .filter((events) => events.some((event) => traitsOf(event).providerVisible))
      .map((events, index) => ({ index, events }));
    return kept.length === 0 ? [] : [{ session, number, turns: kept }];
  });
}

/** Returns the part of a view before the place of a compaction. */
function upTo(turns: readonly ProjectedTurn[], { to_turn, to_event }: Compaction): readonly ProjectedTurn[] {
  return turns.flatMap((turn) => {
    const { origin, events } = turn;
    if (origin.kind !== "kept") return origin.from <= to_turn ? [turn] : [];
    if (origin.turn !== to_turn || to_event === undefined) return origin.turn <= to_turn ? [turn] : [];
    const end = events.findIndex(({ id }) => id === to_event);
    // The event may be in another part of the turn, or be hidden itself: then all of this part was said before it.
    return [end < 0 ? turn : { ...turn, events: events.slice(0, end + 1) }];
  });
}

/** Gives the events of turns that a model is sent, in order. */
export function visibleEvents(turns: readonly { readonly events: readonly Event[] }[]): readonly Event[] {
  return turns.flatMap(({ events }) => events.filter((event) => traitsOf(event).providerVisible));
}
