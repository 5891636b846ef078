// The tools that requests of a conversation offer, as its records under config/ name them: the newest list holds. They are no
// setting; their definitions stand in attachments, so that reading settings reads none.
import { isFields } from "../core/conversation/event.ts";
import type { StoredDelta } from "./config-delta.ts";

/** A tool by name, and the attachment that holds its definition; absent = only the name is known. */
export interface RecordedTool {
  readonly name: string;
  readonly definition?: string;
}

const DEFINITION = /^[0-9a-f]{64}\.json$/;

/** Gives the newest list; null when there is none. `deltas` oldest first, as `selectDeltas` gives them. */
export function recordedTools(deltas: readonly StoredDelta[]): readonly RecordedTool[] | null {
  const newest = deltas.map(({ delta }) => toolsOf(delta)).findLast((tools) => tools !== null);
  return newest?.flatMap((tool) => readTool(tool) ?? []) ?? null;
}

/** What a delta sets. */
export function settingsOf(delta: unknown): unknown {
  if (toolsOf(delta) === null || !isFields(delta)) return delta;
  const { tools: _, ...settings } = delta;
  return settings;
}

/** Writes a list as what a record sets. */
export function toolsDelta(tools: readonly Required<RecordedTool>[]): object {
  return { tools: tools.map(({ name, definition }) => ({ name, definition: { $attachment: definition } })) };
}

function toolsOf(delta: unknown): readonly unknown[] | null {
  return isFields(delta) && Array.isArray(delta["tools"]) ? (delta["tools"] as readonly unknown[]) : null;
}

function readTool(tool: unknown): RecordedTool | null {
  if (typeof tool === "string") return tool === "" ? null : { name: tool };
  if (!isFields(tool) || typeof tool["name"] !== "string" || tool["name"] === "") return null;
  const { name, definition } = tool;
  const attachment = isFields(definition) ? definition["$attachment"] : undefined;
  const isNamed = typeof attachment === "string" && DEFINITION.test(attachment);
  return { name, ...(isNamed ? { definition: attachment } : {}) };
}
