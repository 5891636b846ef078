// How many events a compaction takes out of the view: one count for report, record and commit message.
import { traitsOf, type View } from "../../core/conversation/event.ts";

/** Counts the events of the conversation that a model was sent before and is not any more; below 0 where `keep` brings some back. */
export function eventsRemoved({ before, after }: { readonly before: View; readonly after: View }): number {
  return countKept(before) - countKept(after);
}

function countKept({ turns }: View): number {
  return turns.reduce(
    (count, { origin, events }) =>
      origin.kind === "kept" ? count + events.filter((event) => traitsOf(event).providerVisible).length : count,
    0,
  );
}
