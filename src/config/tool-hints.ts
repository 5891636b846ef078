// The hints for tools as the settings in force give them, without what else they say about a tool.
import type { ToolCompactionHints } from "../core/compact/tool-hints.ts";
import type { Config } from "./config.ts";

/** Gives the hints of a config, by tool name; `*` = every tool that has no word of its own. No prototype. */
export function toolHints({ conversation }: Config): ToolCompactionHints {
  const hints: Record<string, ToolCompactionHints[string]> = Object.create(null);
  for (const [name, { compaction }] of Object.entries(conversation.tools)) {
    if (compaction !== undefined) hints[name] = compaction;
  }
  return hints;
}
