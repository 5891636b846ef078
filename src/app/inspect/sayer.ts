// Who said an event, in the fewest words: a tool's call and its result are the tool's.
import type { Event } from "../../core/conversation/event.ts";

/** Gives `user`, `harness`, `system`, `developer`, `assistant`, `reasoning`, `tool call NAME` or `tool result NAME`; names by call id. */
export function sayerOf(event: Event, toolNames: ReadonlyMap<string, string>): string {
  switch (event.type) {
    case "chat_request":
      return event.metadata?.origin === "harness" ? "harness" : (event.role ?? "user");
    case "chat_response":
      return event.reasoning === undefined ? "assistant" : "reasoning";
    case "tool_call_request":
      return `tool call ${event.name}`;
    case "tool_call_response":
      return `tool result ${toolNames.get(event.call_id) ?? event.call_id}`;
    default:
      return event.type;
  }
}
