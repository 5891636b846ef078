// Compactions that an agent made in a session that jpg exported, with bounds of the conversation instead of the file's.
import type { Compaction } from "../../core/compaction/compaction.ts";
import type { Event } from "../../core/event/event.ts";

/** How positions and ids of an exported file stand to those of the conversation. */
export interface ExportedPositions {
  /** What each exported line stands for, by line id: an event or a compaction. */
  readonly lines: ReadonlyMap<string, string>;
  /** The turn of the conversation that shows an event as its own, by event id. */
  readonly turnOf: ReadonlyMap<string, number>;
  /** The newest exported turn's events, as stored. */
  readonly stored: readonly Event[];
  /** The file's newest turn that holds exported lines, 0-based; -1 = none. */
  readonly last: number;
  /** Position that the first turn after it has in the conversation. */
  readonly base: number;
}

interface Bound {
  readonly turn: number;
  readonly event?: string;
}

/** A line's id is its event's up to the first dot: further events of one line carry an ordinal. */
export function lineOf(eventId: string): string {
  const dot = eventId.indexOf(".");
  return dot < 0 ? eventId : eventId.slice(0, dot);
}

/** Places the compactions that the agent made; those that were exported are the conversation's own and left out. */
export function placeCompactions(compactions: readonly Compaction[], at: ExportedPositions): Compaction[] {
  return compactions.filter((compaction) => !isExported(compaction, at)).map((compaction) => place(compaction, at));
}

function isExported({ metadata = {} }: Compaction, { lines }: ExportedPositions): boolean {
  return Object.values(metadata).some((value) => typeof value === "string" && lines.has(lineOf(value)));
}

function place(compaction: Compaction, at: ExportedPositions): Compaction {
  const { from_event: _from, to_event: toEvent, ...rest } = compaction;
  const to = compaction.to_turn > at.last ? laterBound(compaction.to_turn, toEvent, at) : exportedBound(toEvent, at);
  return {
    ...rest,
    // What the agent was shown began with the conversation's own view: it replaces all of it.
    from_turn: 0,
    to_turn: to.turn,
    ...(to.event === undefined ? {} : { to_event: to.event }),
    ...(compaction.keep === undefined ? {} : { keep: compaction.keep.map((id) => originalId(id, at)) }),
  };
}

function laterBound(turn: number, event: string | undefined, { last, base }: ExportedPositions): Bound {
  return bound(turn - last - 1 + base, event);
}

/** A bound in the exported part: an event of the conversation, or one that the agent added to the newest turn. */
function exportedBound(event: string | undefined, at: ExportedPositions): Bound {
  const newest = at.base - 1;
  if (event === undefined) return bound(newest, at.stored.at(-1)?.id);
  if (!at.lines.has(lineOf(event))) return bound(newest, event);
  const id = originalId(event, at);
  const turn = at.turnOf.get(id);
  return turn === undefined ? bound(newest, at.stored.at(-1)?.id) : bound(turn, id);
}

function originalId(id: string, { lines }: ExportedPositions): string {
  return lines.get(lineOf(id)) ?? id;
}

function bound(turn: number, event: string | undefined): Bound {
  return event === undefined ? { turn } : { turn, event };
}
