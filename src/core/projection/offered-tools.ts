// Which tools a request offers: all but those that compactions prune. A tool that the view still shows a call of is offered
// in any case, and where calls stand not all are left out: providers refuse calls without tools (provider rule A21).
import type { Compaction } from "../compaction/compaction.ts";
import type { View } from "./view.ts";

/** Gives those of the tools that a request with this view offers, in their order. */
export function offeredTools<Tool extends { readonly name: string }>(
  tools: readonly Tool[],
  { turns }: View,
  compactions: readonly Compaction[],
): readonly Tool[] {
  const pruned = new Set(compactions.flatMap((compaction) => compaction.tools?.names ?? []));
  if (!tools.some(({ name }) => pruned.has(name))) return tools;
  const called = new Set<string>();
  for (const { events } of turns)
    for (const event of events) if (event.type === "tool_call_request") called.add(event.name);
  const offered = tools.filter(({ name }) => called.has(name) || !pruned.has(name));
  return offered.length === 0 && called.size > 0 ? tools : offered;
}
