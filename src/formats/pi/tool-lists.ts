// The tools that pi offers its model: since 1.0 its system messages say which come and which go.
import { readToolDefinition, type ToolDefinition } from "../../core/conversation/defined-tools.ts";
import type { ToolList } from "../imported-session.ts";
import { isRecord, type RawLine, stringOf } from "../json-line.ts";
import { roleOf, saidMessage } from "./line.ts";
import type { PathReading } from "./turn-reader.ts";

/** Gives the list after each system message of the path that changes it; `tools` = those before it, and after it those that it leaves. */
export function listTools(
  { lines, cuts }: Pick<PathReading, "lines" | "cuts">,
  tools: OfferedTools,
): readonly ToolList[] {
  return cuts.flatMap(({ chain }, turn) =>
    chain.flatMap((entry): readonly ToolList[] => {
      const raw = entry.kind === "side" ? lines.at(entry.line) : null;
      if (raw === null || typeof raw === "string" || roleOf(raw) !== "system") return [];
      if (!changeTools(tools, saidMessage(raw)) || tools.size === 0) return [];
      return [{ turn, timestamp: entry.timestamp, id: entry.eventId, tools: [...tools.values()] }];
    }),
  );
}

/** Tools by name. */
export type OfferedTools = Map<string, ToolDefinition>;

/** Takes out and puts in what a system message says. Gives whether it says anything of tools. */
function changeTools(tools: OfferedTools, { toolsAdded, toolsRemoved }: RawLine): boolean {
  const added = listOf(toolsAdded).flatMap((tool) => readToolDefinition(tool) ?? []);
  const removed = listOf(toolsRemoved).flatMap((tool) => (isRecord(tool) ? (stringOf(tool, "name") ?? []) : []));
  for (const name of removed) tools.delete(name);
  for (const tool of added) tools.set(tool.name, tool);
  return added.length + removed.length > 0;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
