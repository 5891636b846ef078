// The tools that the agent offered, as its snapshots of the prompt list them: since 2.1.330, in sessions whose prompt it may
// have to give again. Each of them is long, and most repeat the one before.
import { readToolDefinition, type ToolDefinition } from "../../core/conversation/defined-tools.ts";
import type { ToolList } from "../imported-session.ts";
import { isRecord, type RawLine, recordOf, stringOf } from "../json-line.ts";
import type { ParsedLines } from "../parsed-lines.ts";

/** Where a snapshot stands. */
export interface SnapshotLine {
  /** Line of the file, 0-based. */
  readonly line: number;
  readonly timestamp: string;
}

/** Whether a line is a snapshot that lists tools; the first of a session is written before they are known. */
export function listsTools(raw: RawLine): boolean {
  if (raw["type"] !== "attachment" || raw["isSidechain"] === true) return false;
  const { type, tools } = recordOf(raw, "attachment") ?? {};
  return type === "prompt_snapshot" && Array.isArray(tools) && tools.length > 0;
}

/** A list that is not placed in a turn yet. */
type ListLine = Omit<ToolList, "turn"> & SnapshotLine;

/** Gives the lists of snapshots that differ from the one before; `before` = the line of the newest one before all of them. */
export function readToolLists(
  lines: ParsedLines,
  snapshots: readonly SnapshotLine[],
  before?: number,
): readonly ListLine[] {
  let known = before === undefined ? "" : JSON.stringify(toolsAt(lines, before));
  return snapshots.flatMap(({ line, timestamp }) => {
    const tools = toolsAt(lines, line);
    const text = JSON.stringify(tools);
    if (tools.length === 0 || text === known) return [];
    known = text;
    const raw = lines.at(line);
    return [{ line, timestamp, id: (isRecord(raw) ? stringOf(raw, "uuid") : undefined) ?? `${line}`, tools }];
  });
}

/** Places a list in the last turn that begins no later in the file; `starts` = lines of the turns from `first` on. */
export function placeList({ line, ...list }: ListLine, starts: readonly number[], first = 0): ToolList {
  return {
    ...list,
    turn:
      first +
      Math.max(
        0,
        starts.findLastIndex((start) => start <= line),
      ),
  };
}

function toolsAt(lines: ParsedLines, line: number): readonly ToolDefinition[] {
  const raw = lines.at(line);
  const tools = isRecord(raw) ? recordOf(raw, "attachment")?.["tools"] : undefined;
  return Array.isArray(tools) ? tools.filter(isRecord).flatMap((tool) => toolOf(tool) ?? []) : [];
}

/** `schema` is the tool as the API was sent it; what has none was named only. */
function toolOf(tool: RawLine): ToolDefinition | null {
  const { input_schema: parameters } = recordOf(tool, "schema") ?? {};
  return readToolDefinition({ name: tool["name"], description: tool["description"], parameters });
}
