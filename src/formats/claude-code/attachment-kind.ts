// Which attachment lines reach the model when the agent resumes a session, and who made them.
import { isRecord, type RawLine, recordOf, stringOf } from "./line.ts";

const SENT: ReadonlySet<string> = new Set([
  "agent_listing_delta",
  "compact_file_reference",
  "date_change",
  "deferred_tools_delta",
  "diagnostics",
  "edited_text_file",
  "file",
  "hook_additional_context",
  "hook_blocking_error",
  "invoked_skills",
  "mcp_instructions_delta",
  "nested_memory",
  "plan_mode",
  "plan_mode_exit",
  "queued_command",
  "read_truncation_notice",
  "skill_listing",
  "task_status",
]);

/** Whether the agent sends an attachment line: one of the kinds it sends again, or one that carries its rendered text. */
export function isSentAttachment(line: RawLine): boolean {
  const attachment = recordOf(line, "attachment");
  if (attachment === undefined) return false;
  const type = stringOf(attachment, "type");
  return type !== undefined && (SENT.has(type) || renderedTexts(line).length > 0);
}

/** The texts that the agent stored as what it sent for an attachment line; empty in files before 2.1.330. */
export function renderedTexts(line: RawLine): readonly string[] {
  const rendered = line["rendered"] ?? recordOf(line, "attachment")?.["rendered"];
  if (!Array.isArray(rendered)) return [];
  return rendered.filter(isRecord).flatMap((item) => {
    const content = stringOf(item, "content") ?? stringOf(item, "text");
    return content === undefined ? [] : [content];
  });
}

/** Whether it is a prompt that the user typed while the agent was working. */
export function isQueuedPrompt(attachment: RawLine): boolean {
  if (attachment["type"] !== "queued_command" || attachment["isMeta"] === true) return false;
  const mode = attachment["commandMode"];
  return mode === undefined || mode === "prompt";
}
