// Calls that have to stay because reasoning stays that led to them: providers refuse reasoning without its calls (A16, A17).
import { isReasoning } from "../event/event.ts";
import type { Turn } from "../event/turn.ts";

/** Ids of the calls that follow reasoning which is kept by name, in the same message. */
export function findTied(turns: readonly Turn[], keep: ReadonlySet<string>): ReadonlySet<string> {
  const tied = new Set<string>();
  if (keep.size === 0) return tied;
  for (const { events } of turns) {
    let isKept = false;
    for (const event of events) {
      if (isReasoning(event)) isKept = keep.has(event.id);
      else if (event.type === "tool_call_response" || event.type === "chat_request") isKept = false;
      else if (isKept && event.type === "tool_call_request") tied.add(event.id);
    }
  }
  return tied;
}
