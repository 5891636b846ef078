// What a compaction gives back to the model: for tool calls the newest policy that covers a call counts whole (RFD 064), so that
// `strip-responses` after `strip-requests` shows the arguments again.
import type { Compaction } from "../compaction/compaction.ts";
import type { Event } from "../event/event.ts";
import type { Turn } from "../event/turn.ts";
import type { View } from "../projection/view.ts";

/** The views without and with a compaction, those in force before it, and the conversation's turns: at least the shown ones. */
export interface GivenBackFacts {
  readonly turns: ReadonlyMap<number, Turn>;
  readonly compactions: readonly Compaction[];
  readonly before: View;
  readonly after: View;
}

/**
 * Says what older compactions shortened or left out of calls and the model is shown again, a clause; null = nothing. What is
 * kept by name is meant to come back, and not counted.
 */
export function describeGivenBack(
  { keep = [], tool_calls }: Pick<Compaction, "keep" | "tool_calls">,
  { turns, compactions, before, after }: GivenBackFacts,
): string | null {
  if (tool_calls === undefined || compactions.every((older) => older.tool_calls === undefined)) return null;
  const was = new Map(callsIn(before).map((event) => [event.id, event]));
  const whole = new Set([...turns.values()].flatMap(({ events }) => events));
  const kept = new Set(keep);
  const back = callsIn(after).filter((event) => {
    const older = was.get(event.id);
    return older !== event && !kept.has(event.id) && (older === undefined || whole.has(event));
  });
  const parts = HALVES.flatMap(([type, name]) => {
    const count = back.filter((event) => event.type === type).length;
    return count === 0 ? [] : [`the ${name} of ${count} ${count === 1 ? "call" : "calls"}`];
  });
  return parts.length === 0 ? null : `${parts.join(" and ")}: for tool calls only the newest policy counts`;
}

const HALVES = [
  ["tool_call_request", "arguments"],
  ["tool_call_response", "results"],
] as const;

function callsIn({ turns }: View): readonly Event[] {
  return turns.flatMap(({ events }) => events.filter(({ type }) => HALVES.some(([half]) => half === type)));
}
