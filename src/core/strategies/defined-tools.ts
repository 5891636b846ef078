// Which tools a conversation tells the model it has: the definitions in its settings, wherever they were recorded.
import { isFields } from "../event/fields.ts";
import type { Turn } from "../event/turn.ts";

/**
 * Lists the names of the tools that config deltas define, each once: entries of `conversation.tools` that hold more than
 * compaction hints, and lists of tools (`tools: ["a", {"name": "b"}]`). `stored` = deltas kept outside the turns.
 */
export function definedTools(turns: Iterable<Turn>, stored: readonly unknown[] = []): readonly string[] {
  const inside: unknown[] = [];
  for (const { events } of turns)
    for (const event of events) if (event.type === "config_delta") inside.push(event.delta);
  return [...new Set([...stored, ...inside].flatMap(namesIn))];
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
