// What a line of a rollout is for. Most messages of the agent's own (`event_msg`) say once more, for its display, what the
// items say: they make no events, and live on in the sources of the conversation.

import { isOriginLine } from "../export-origin.ts";
import { type RawLine, stringOf } from "../json-line.ts";
import { speakerOf } from "./context-text.ts";
import { isSentItem } from "./item-events.ts";
import { payloadOf } from "./rollout-line.ts";

export type RolloutKind =
  /** Words of the user. */
  | "prompt"
  /** Words of the agent that introduce the request that follows. */
  | "context"
  /** Other words of the agent in the user's name. */
  | "harness"
  /** What a model made. */
  | "answer"
  /** The output of a call. */
  | "output"
  /** From here on the agent sends another history. */
  | "compacted"
  /** The user went back by some requests. */
  | "rollback"
  /** Tokens that the provider counted. */
  | "usage"
  /** What no model sees. */
  | "note"
  /** What other lines say as well. */
  | "silent";

/** Messages that say nothing that no other line says, or only what the agent shows while it works. */
const SILENT_MESSAGES: ReadonlySet<string> = new Set(
  [
    "user_message agent_message agent_message_delta agent_reasoning agent_reasoning_raw_content agent_reasoning_section_break",
    "exec_command_begin exec_command_end exec_command_output_delta patch_apply_begin patch_apply_end patch_apply_updated",
    "mcp_tool_call_begin mcp_tool_call_end web_search_begin web_search_end view_image_tool_call image_generation_end",
    "dynamic_tool_call_request dynamic_tool_call_response item_started item_completed raw_response_item",
    "task_started task_complete context_compacted thread_settings_applied thread_name_updated session_configured",
    "collab_agent_spawn_end collab_waiting_end collab_close_end collab_agent_interaction_end turn_diff plan_update",
  ].flatMap((names) => names.split(" ")),
);

/** Types of lines that hold settings and state, or counts that stand in a message as well. */
const SILENT_TYPES: ReadonlySet<string> = new Set([
  "turn_context",
  "world_state",
  "token_usage_record",
  "inter_agent_communication_metadata",
  "state",
]);

/** Tells what a parsed line is for. */
export function kindOfRolloutLine(line: RawLine): RolloutKind {
  const type = stringOf(line, "type") ?? "";
  const payload = payloadOf(line);
  if (type === "response_item") return kindOfItem(payload);
  if (type === "event_msg") return kindOfMessage(stringOf(payload, "type") ?? "");
  if (type === "compacted") return "compacted";
  if (isOriginLine(line)) return "silent";
  return SILENT_TYPES.has(type) ? "silent" : "note";
}

function kindOfItem(item: RawLine): RolloutKind {
  const type = stringOf(item, "type") ?? "";
  if (!isSentItem(item)) return "note";
  if (type === "agent_message") return "harness";
  if (type.endsWith("_output")) return "output";
  if (type !== "message" || stringOf(item, "role") === "assistant") return "answer";
  const speaker = speakerOf(item);
  return speaker === "user" ? "prompt" : speaker;
}

function kindOfMessage(type: string): RolloutKind {
  if (type === "token_count") return "usage";
  if (type === "thread_rolled_back") return "rollback";
  return SILENT_MESSAGES.has(type) ? "silent" : "note";
}
