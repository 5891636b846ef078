// A view in the form of an OpenAI API: a flat list of items, each of which knows the events it came from.
import { defined } from "../defined.ts";
import type { Event } from "../event/event.ts";
import type { ProjectedTurn, View } from "../projection/view.ts";
import type { HardeningStep } from "./thread.ts";

/** A JSON object in the provider's own shape. */
export type ProviderObject = Readonly<Record<string, unknown>>;

/** Where an item comes from. */
export interface ItemOrigin {
  /** Ids of the events, in order; empty = made by hardening or by a summary (then `compaction` names it). */
  readonly events: readonly string[];
  readonly compaction?: string;
}

/** One message (Chat) or one input item (Responses). */
export interface ThreadItem extends ItemOrigin {
  readonly item: ProviderObject;
}

export interface ItemThread {
  readonly items: readonly ThreadItem[];
  readonly hardening: readonly HardeningStep[];
}

/** Gives the origin of what each event of a view becomes: a summary names its compaction, a replacement's events both. */
export function itemOrigins({ turns }: View): ReadonlyMap<Event, ItemOrigin> {
  const origins = new Map<Event, ItemOrigin>();
  for (const turn of turns) for (const event of turn.events) origins.set(event, originOf(turn, event));
  return origins;
}

function originOf({ origin }: ProjectedTurn, event: Event): ItemOrigin {
  if (origin.kind === "kept" || origin.kind === "index") return { events: [event.id] };
  return { events: origin.kind === "summary" ? [] : [event.id], compaction: origin.compaction };
}

/** Joins the origins of what became one item; where several compactions had a part in it, the first is named. */
export function joinOrigins(origins: readonly ItemOrigin[]): ItemOrigin {
  const events = origins.flatMap((origin) => origin.events);
  const compaction = origins.find((origin) => origin.compaction !== undefined)?.compaction;
  return { events, ...defined({ compaction }) };
}
