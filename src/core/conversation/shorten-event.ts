// Applies what policies decided about an event. An event that stays as it is keeps its identity.
import type { Disposition, ShorteningContext } from "./contents/content-type.ts";
import { mainContentOf, PART_CONTENTS } from "./contents/content-types.ts";
import type { Event } from "./event.ts";

type Decided = Pick<Disposition, "action" | "compaction" | "headOf">;

/** Applies the decision about the event as a whole; null when nothing of the event is shown. */
export function shortenEvent(
  event: Event,
  { action, compaction, headOf }: Decided,
  context: ShorteningContext,
): Event | null {
  if (action === "keep") return event;
  if (action === "hide" || action === "omit") return null;
  const projected = mainContentOf(event)?.projected;
  return projected === undefined
    ? event
    : projected.shorten(event, action, { compaction, context: { ...context, headOf } });
}

/** Applies the decisions about parts of an event. */
export function shortenParts(
  event: Event,
  parts: readonly Pick<Disposition, "content" | "action" | "compaction">[],
): Event {
  return parts.reduce((left, { content, action, compaction }) => {
    const type = PART_CONTENTS.find((one) => one.content === content);
    if (typeof action === "string" && action !== "strip") return left;
    return type?.projected?.shorten(left, action, { compaction, context: {} }) ?? left;
  }, event);
}
