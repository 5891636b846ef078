// The commands that the calls of a view ran, with how they ended.
import type { Event, ToolCallRequest } from "../event/event.ts";
import { pairCalls } from "../event/tool-pairing.ts";
import type { View } from "../projection/view.ts";
import { commandsRun } from "./call-traces.ts";

/** Stands between the first line of a command and how it ended. */
const ARROW = " → ";

/**
 * Gives the commands by the event that ran them: the first line, shortened to 120 characters, with ` → ok` or ` → failed`
 * behind it when the view shows a result.
 */
export function commandFacts(view: View): ReadonlyMap<Event, readonly string[]> {
  const turns = view.turns.map(({ events }, index) => ({ index, events }));
  const failed = new Map<ToolCallRequest, boolean>();
  for (const [response, request] of pairCalls(turns, () => false)) failed.set(request, response.is_error);
  const facts = new Map<Event, readonly string[]>();
  for (const { events } of view.turns) {
    for (const event of events) {
      const commands = event.type === "tool_call_request" ? commandsRun(event.arguments) : [];
      if (commands.length === 0) continue;
      const ending = endingOf(failed.get(event as ToolCallRequest));
      facts.set(
        event,
        commands.map((command) => command + ending),
      );
    }
  }
  return facts;
}

function endingOf(hasFailed: boolean | undefined): string {
  if (hasFailed === undefined) return "";
  return hasFailed ? `${ARROW}failed` : `${ARROW}ok`;
}

/** Gives the command line of a fact, as texts would repeat it. */
export function commandLineOf(fact: string): string {
  const arrow = fact.lastIndexOf(ARROW);
  const line = arrow < 0 ? fact : fact.slice(0, arrow);
  return line.endsWith("…") ? line.slice(0, -1) : line;
}
