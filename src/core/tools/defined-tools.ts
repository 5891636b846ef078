// Which tools a conversation tells the model it has: the definitions in its settings, wherever they were recorded.
import type { Event } from "../event/event.ts";
import { isFields } from "../event/fields.ts";

/** Lists the names of the tools that config deltas among events define, each once. */
export function toolsDefinedIn(events: readonly Event[]): readonly string[] {
  return definedTools(events.flatMap((event) => (event.type === "config_delta" ? [event.delta] : [])));
}

/**
 * Lists the names of the tools that config deltas define, each once: entries of `conversation.tools` that hold more than compaction
 * hints, and lists of tools (`tools: ["a", {"name": "b"}]`).
 */
export function definedTools(deltas: readonly unknown[]): readonly string[] {
  return [...new Set(deltas.flatMap(namesIn))];
}

function namesIn(delta: unknown): readonly string[] {
  if (!isFields(delta)) return [];
  const { conversation, tools } = delta;
  const own = isFields(conversation) ? conversation["tools"] : undefined;
  return [...namesOf(tools), ...namesOf(own)];
}

function namesOf(tools: unknown): readonly string[] {
  if (Array.isArray(tools)) {
    return tools.flatMap((tool: unknown) => {
      const name = isFields(tool) ? tool["name"] : tool;
      return typeof name === "string" && name !== "" ? [name] : [];
    });
  }
  if (!isFields(tools)) return [];
  return Object.keys(tools).filter((name) => name !== "*" && isDefinition(tools[name]));
}

/** A table with nothing but `compaction` says how calls are compacted, not that there is such a tool. */
function isDefinition(tool: unknown): boolean {
  return isFields(tool) && Object.keys(tool).some((key) => key !== "compaction");
}
