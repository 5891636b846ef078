// What the view knows about the blocks of a thread: the event or compaction behind each, and when it stands.
import type { Event, View } from "../../core/conversation/event.ts";
import type { ThreadBlock } from "../../core/model/thread.ts";
import type { LineDraft } from "./export-lines.ts";

/** An event of the view. */
export interface EventFacts {
  readonly event: Event;
  /** Compaction that put the event into the view. */
  readonly compaction: string | undefined;
  readonly isSummary: boolean;
}

/** Everything an export asks of a view. */
export interface ViewFacts {
  /** By event id. */
  readonly events: ReadonlyMap<string, EventFacts>;
  /** Time at which each compaction stands in the view, by its id. */
  readonly times: ReadonlyMap<string, string>;
}

/** Indexes a view. */
export function indexView(view: View): ViewFacts {
  const facts = new Map<string, EventFacts>();
  const times = new Map<string, string>();
  for (const { origin, events } of view.turns) {
    const compaction = origin.kind === "kept" || origin.kind === "index" ? undefined : origin.compaction;
    const time = events[0]?.timestamp;
    if (compaction !== undefined && time !== undefined) times.set(compaction, time);
    for (const event of events) facts.set(event.id, { event, compaction, isSummary: origin.kind === "summary" });
  }
  return { events: facts, times };
}

/** Finds the event behind a block; absent for what a summary or hardening made. */
export function exportFactsOf(view: ViewFacts, block: ThreadBlock | undefined): EventFacts | undefined {
  return block?.event === undefined ? undefined : view.events.get(block.event);
}

/** Finds the compaction that put a block into the view. */
export function compactionOf(view: ViewFacts, block: ThreadBlock | undefined): string | undefined {
  return block?.compaction ?? exportFactsOf(view, block)?.compaction;
}

/** Tells what a line made of a block is named after, what it stands for, and its date. */
export function identityOf(
  view: ViewFacts,
  block: ThreadBlock | undefined,
): Pick<LineDraft, "key" | "shows" | "timestamp"> {
  const facts = exportFactsOf(view, block);
  const compaction = compactionOf(view, block);
  const timestamp = facts?.event.timestamp ?? view.times.get(compaction ?? "");
  const shows = facts === undefined || facts.isSummary ? compaction : undefined;
  return { key: block?.event ?? compaction, shows: shows ?? block?.event, timestamp };
}
