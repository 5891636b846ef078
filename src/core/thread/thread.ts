// The thread: a projection in the form a model is sent, after hardening. Each block still knows the event it came from.
import type { Event } from "../event/event.ts";
import type { ProjectedTurn, View } from "../projection/view.ts";

/** One block of a message in the provider's own shape. */
export interface ThreadBlock {
  /** Event it came from; absent = made by hardening or by a summary (then `compaction` names it). */
  readonly event?: string;
  readonly compaction?: string;
  /** Provider-shaped content block. */
  readonly block: Readonly<Record<string, unknown>>;
}

/** What names where a block comes from. */
export type BlockOrigin = Omit<ThreadBlock, "block">;

export interface ThreadMessage {
  readonly role: "user" | "assistant" | "system";
  readonly blocks: readonly ThreadBlock[];
}

/** A hardening step that left an event out or put a synthetic item in. */
export interface HardeningStep {
  /** Rule id of provider-rules, e.g. `A1`. */
  readonly rule: string;
  /** Event that was dropped or changed; absent for synthetic items. */
  readonly event?: string;
  readonly action: "dropped" | "changed" | "added";
}

export interface Thread {
  readonly messages: readonly ThreadMessage[];
  readonly hardening: readonly HardeningStep[];
}

/** Gives the origin of the blocks of each event of a view, in order: a summary's name the compaction, a replacement list's both. */
export function blockOrigins({ turns }: View): ReadonlyMap<Event, BlockOrigin> {
  const origins = new Map<Event, BlockOrigin>();
  for (const turn of turns) for (const event of turn.events) origins.set(event, originOf(turn, event));
  return origins;
}

function originOf({ origin }: ProjectedTurn, event: Event): BlockOrigin {
  if (origin.kind === "kept" || origin.kind === "index") return { event: event.id };
  return origin.kind === "summary"
    ? { compaction: origin.compaction }
    : { event: event.id, compaction: origin.compaction };
}
