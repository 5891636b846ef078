// What each policy of a profile takes out of the view. Policies speak of different kinds of events, so that what an event loses
// is one policy's doing; a summary and an omission of turns leave nothing to the others.
import type { Compaction } from "../compaction/compaction.ts";
import { type Event, isReasoning, traitsOf } from "../event/event.ts";
import type { View } from "../projection/view.ts";
import type { StepReport } from "../strategies/compose-steps.ts";

/** The views without and with a compaction, and how their events are counted: tokens, not rounded. */
export interface StepFacts {
  readonly before: View;
  readonly after: View;
  readonly countEvent: (event: Event) => number;
}

/** The policies that a step can be of, by their key in a profile, in the order in which they are told. */
const MECHANICAL = ["reasoning", "tool_calls", "attachments"] as const;

/** Reports the steps of a compaction that a profile decides, by the keys of its policies; they add up to what it takes out. */
export function policySteps(
  compaction: Pick<Compaction, "summary" | "turns" | (typeof MECHANICAL)[number]>,
  { before, after, countEvent }: StepFacts,
): readonly StepReport[] {
  const whole = compaction.summary !== undefined ? "summary" : compaction.turns === undefined ? null : "turns";
  const keys = whole === null ? MECHANICAL.filter((key) => compaction[key] !== undefined) : [whole];
  const taken = new Map<string, { events: number; tokens: number }>();
  const take = ({ event, isSent }: ShownEvent, sign: 1 | -1): void => {
    const key = whole ?? policyOf(event);
    const { events, tokens } = taken.get(key) ?? { events: 0, tokens: 0 };
    taken.set(key, { events: events + (isSent ? sign : 0), tokens: tokens + sign * countEvent(event) });
  };
  // What a projection leaves as it is stays the same object.
  const [was, is] = [eventsOf(before), eventsOf(after)];
  for (const [event, shown] of was) if (!is.has(event)) take(shown, 1);
  for (const [event, shown] of is) if (!was.has(event)) take(shown, -1);
  return keys.map((strategy) => {
    const { events, tokens } = taken.get(strategy) ?? { events: 0, tokens: 0 };
    return { strategy, events_removed: events, estimated_tokens_saved: Math.round(tokens) };
  });
}

interface ShownEvent {
  readonly event: Event;
  /** Whether it is one of the conversation's own that a model is sent. */
  readonly isSent: boolean;
}

function eventsOf({ turns }: View): ReadonlyMap<Event, ShownEvent> {
  const events = new Map<Event, ShownEvent>();
  for (const { origin, events: shown } of turns)
    for (const event of shown)
      events.set(event, { event, isSent: origin.kind === "kept" && traitsOf(event).providerVisible });
  return events;
}

/** The policy that speaks of an event. */
function policyOf(event: Event): (typeof MECHANICAL)[number] {
  if (isReasoning(event)) return "reasoning";
  return event.type === "tool_call_request" || event.type === "tool_call_response" ? "tool_calls" : "attachments";
}
