// The compactions of a stream: its overlays, each made during the turn that it stands in.
import type { Compaction } from "../../core/conversation/compaction.ts";
import { type Event, traitsOf } from "../../core/conversation/event.ts";
import type { SkippedLine } from "../imported-session.ts";
import { isUsableId } from "./entry-id.ts";
import { isTalk } from "./entry-kind.ts";
import { type JpOverlay, nameOfOverlay, readOverlay } from "./overlays.ts";
import type { Stream, StreamEntry } from "./stream.ts";
import type { StreamTurn } from "./turn-cuts.ts";

/** The key under which jpg's own entry lists the overlays that it wrote, and the compactions that they show. */
export const OVERLAYS_KEY = "overlays";

/** The key under which a compaction notes behind which event its overlay stands: there it goes back. */
export const AFTER_KEY = "after";

/** What the overlays of a stream come to. */
export interface ReadOverlays {
  readonly compactions: readonly Compaction[];
  /** The turn in which each stands, by id. */
  readonly turns: ReadonlyMap<string, number>;
  /** Those that jpg wrote, by id. */
  readonly exported: ReadonlySet<string>;
  /** Overlays that change nothing, and why. */
  readonly idle: readonly SkippedLine[];
}

interface Reading {
  readonly origin: Stream["origin"];
  readonly turns: readonly StreamTurn[];
}

/** Reads the overlays, in the order of the stream. */
export function readOverlays(reading: Reading): ReadOverlays {
  const compactions: Compaction[] = [];
  const turns = new Map<string, number>();
  const exported = new Set<string>();
  const idle: SkippedLine[] = [];
  const written = writtenIds(reading.origin);
  const placed = reading.turns.flatMap(({ overlays }, stands) => overlays.map((one) => ({ ...one, stands })));
  for (const { entry, after, stands } of placed) {
    const overlay = readOverlay(entry, reading.turns.length);
    if (typeof overlay === "string") {
      idle.push({ line: entry.line, reason: overlay });
      continue;
    }
    const own = written.get(nameOfOverlay(overlay))?.shift();
    const isMoved = reading.origin !== null && own === undefined;
    const compaction = toCompaction(overlay, {
      id: own ?? entry.id,
      bounds: boundsOf(overlay, { isMoved, stands, ...reading }),
      after: isMoved ? undefined : after,
    });
    compactions.push(compaction);
    turns.set(compaction.id, stands);
    if (own !== undefined) exported.add(own);
  }
  return { compactions, turns, exported, idle };
}

/** The compactions that jpg wrote as overlays, by the names of these, in order. */
function writtenIds(origin: Stream["origin"]): ReadonlyMap<string, string[]> {
  const listed = origin?.[OVERLAYS_KEY];
  const known = new Set<string>();
  const ids = new Map<string, string[]>();
  for (const pair of Array.isArray(listed) ? listed : []) {
    const [name, id] = Array.isArray(pair) ? pair : [];
    if (typeof name !== "string" || typeof id !== "string" || !isUsableId(id) || known.has(id)) continue;
    known.add(id);
    const same = ids.get(name);
    if (same === undefined) ids.set(name, [id]);
    else same.push(id);
  }
  return ids;
}

type Bounds = Pick<Compaction, "from_event" | "to_event">;

function toCompaction(
  { timestamp, from, to, summary, ...policies }: JpOverlay,
  { id, bounds, after }: { readonly id: string; readonly bounds: Bounds; readonly after: string | undefined },
): Compaction {
  return {
    type: "compaction",
    id,
    timestamp,
    from_turn: from,
    to_turn: to,
    ...bounds,
    ...(summary !== undefined && { summary: { summary, source: "imported" } }),
    ...policies,
    source: "import",
    ...(after !== undefined && { metadata: { [AFTER_KEY]: after } }),
  };
}

/**
 * jp's ranges are whole turns. One that was the newest by then ends with its last event: what jpg adds to it is not hidden. In a
 * stream that jpg wrote turns may have other positions than in the conversation: bounds are events that were sent (`isMoved`).
 */
function boundsOf(
  { from, to }: JpOverlay,
  { isMoved, stands, turns }: Reading & { readonly isMoved: boolean; readonly stands: number },
): Bounds {
  if (!isMoved) {
    const said = to < stands ? undefined : turns[to]?.entries.findLast(({ kind }) => isTalk(kind));
    return said === undefined ? {} : { to_event: said.id };
  }
  const sent = turns.slice(from, to + 1).flatMap(({ entries }) => entries.filter(isSent));
  const [first, last] = [sent[0], sent.at(-1)];
  return first === undefined || last === undefined ? {} : { from_event: first.id, to_event: last.id };
}

function isSent({ kind }: StreamEntry): boolean {
  return traitsOf({ type: kind } as Event).providerVisible;
}
