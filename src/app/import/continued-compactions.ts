// Compactions that an agent made in a session that jpg exported, with bounds of the conversation instead of the file's.
import { type Compaction, isHiding } from "../../core/conversation/compaction.ts";
import type { Event } from "../../core/conversation/event.ts";
import { indexId, noticeId } from "../../core/conversation/hidden-notice.ts";
import { defined } from "../../core/json.ts";

/** How positions and ids of an exported file stand to those of the conversation. */
export interface ExportedPositions {
  /** What each exported line stands for, by line id: an event or a compaction. */
  readonly lines: ReadonlyMap<string, string>;
  /** The events that a line holds, by what it stands for. */
  readonly held: ReadonlyMap<string, readonly string[]>;
  /** The turn of the conversation that shows an event as its own, by event id. */
  readonly turnOf: ReadonlyMap<string, number>;
  /** The compactions whose summaries, replacements, indexes and notices the export may hold, by id. */
  readonly inForce: ReadonlyMap<string, Compaction>;
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
  const { from_event: fromEvent, to_event: toEvent, ...rest } = compaction;
  // What the agent was shown began with the conversation's own view: what hides all of it replaces all of that.
  const from = fromEvent === undefined ? { turn: 0 } : placeBound(compaction.from_turn, fromEvent, { ...at, edge: 0 });
  const to = placeBound(compaction.to_turn, toEvent, { ...at, edge: -1 });
  return {
    ...rest,
    from_turn: from.turn,
    ...defined({ from_event: from.event }),
    to_turn: to.turn,
    ...defined({ to_event: to.event }),
    ...(compaction.keep === undefined
      ? {}
      : { keep: [...new Set(compaction.keep.flatMap((id) => originalIds(id, at)))] }),
  };
}

/** `edge` = which event of a line that holds several: 0 = the first, -1 = the last. */
type Edge = ExportedPositions & { readonly edge: 0 | -1 };

function placeBound(turn: number, event: string | undefined, at: Edge): Bound {
  return turn > at.last ? bound(turn - at.last - 1 + at.base, event) : exportedBound(event, at);
}

/** A bound in the exported part: an event of the conversation, or one that the agent added to the newest turn. */
function exportedBound(event: string | undefined, at: Edge): Bound {
  const newest = at.base - 1;
  if (event === undefined) return bound(newest, at.stored.at(-1)?.id);
  if (!at.lines.has(lineOf(event))) return bound(newest, event);
  const id = originalIds(event, at).at(at.edge) ?? "";
  const made = madeBy(id, at);
  if (made !== undefined) return madeBound(id, made, at);
  const turn = at.turnOf.get(id);
  return turn === undefined ? bound(newest, at.stored.at(-1)?.id) : bound(turn, id);
}

/** A bound at what jpg wrote into the export, which is no event of the conversation: where the compaction that it is of has its own. */
function madeBound(id: string, made: Compaction, at: Edge): Bound {
  const newest = at.base - 1;
  if (at.edge === 0 && isHiding(made) && !isTold(id, made)) return bound(made.from_turn, made.from_event);
  if (at.edge === 0) return exportedBound(saidAfter(id, at), at);
  const end = made.to_event ?? (made.to_turn >= newest ? at.stored.at(-1)?.id : undefined);
  return bound(Math.min(made.to_turn, newest), end);
}

/** The compaction that put something into the export: its summary, index or notice, or an event of its replacement. */
function madeBy(id: string, { inForce }: Pick<ExportedPositions, "inForce">): Compaction | undefined {
  const named = inForce.get(lineOf(id));
  return named ?? [...inForce.values()].find(({ replacement }) => replacement?.some((event) => event.id === id));
}

/** Whether it stands behind the range that its compaction covers. */
function isTold(id: string, made: Compaction): boolean {
  return id === indexId(made.id) || id === noticeId(made.id);
}

/** The next exported line that shows an event of the conversation; undefined = none does. */
function saidAfter(id: string, at: ExportedPositions): string | undefined {
  const all = [...at.lines];
  const last = all.findLastIndex(([, shows]) => shows === id);
  return all.slice(last + 1).find(([, shows]) => madeBy(shows, at) === undefined)?.[0];
}

/** The events that the line of an event holds: what an agent does to one of them, it does to all. */
function originalIds(id: string, { lines, held }: ExportedPositions): readonly string[] {
  const shown = lines.get(lineOf(id));
  return shown === undefined ? [id] : (held.get(shown) ?? [shown]);
}

function bound(turn: number, event: string | undefined): Bound {
  return event === undefined ? { turn } : { turn, event };
}
