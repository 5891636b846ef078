// Texts that Codex adds in the user's or the developer's name. Some describe the surroundings of the next request; the others report
// what happened and belong to their own place.
import { isRecord, NO_DATE, type RawLine, readTimestamp, recordOf, stringOf } from "../session-source.ts";
import { payloadOf } from "./rollout-line.ts";
import { USUAL_PROVIDER } from "./setup.ts";

/**
 * Who speaks in a message: the user, the agent introducing the next request, the agent reporting what happened before it, or the agent
 * otherwise.
 */
type Voice = "user" | "context" | "report" | "harness";

/** Tags around what introduces a request. */
const CONTEXT_TAGS: ReadonlySet<string> = new Set([
  "environment_context",
  "environments_instructions",
  "user_instructions",
  "INSTRUCTIONS",
  "permissions",
  "collaboration_mode",
  "skills_instructions",
  "apps_instructions",
  "plugins_instructions",
  "recommended_plugins",
  "personality_spec",
  "model_switch",
  "tools",
]);

/** Tags around reports of what happened; one directly before a request goes with it when the user goes back. */
const REPORT_TAGS: ReadonlySet<string> = new Set([
  "turn_aborted",
  "user_shell_command",
  "subagent_notification",
  "skill",
  "goal_context",
  "agent_message_board_notification",
]);

/** Tags around other words, which stay. */
const HARNESS_TAGS: ReadonlySet<string> = new Set([
  "user_action",
  "context_window_reminder",
  "rollout_budget",
  "image_resize_notice",
  "codex_internal_context",
  "hook_prompt",
]);

/** A program that embeds Codex tags what it adds to a request: `<external_NAME>`. */
const EXTERNAL = "external_";

const PROJECT_INSTRUCTIONS = /^# AGENTS\.md instructions\b/;
const MARKED = /^<([A-Za-z_]+)(?: [^<>]*)?>/;

/** Who speaks in a message of a role other than the assistant's. */
export function speakerOf(item: RawLine): Voice {
  if (stringOf(item, "role") !== "user") return "context";
  const content = item["content"];
  const parts = typeof content === "string" ? [content] : Array.isArray(content) ? content.map(textOf) : [];
  const speakers = parts.map((text) => (text === undefined ? "user" : speakerOfText(text)));
  if (speakers.length === 0 || speakers.includes("user")) return "user";
  if (speakers.every((speaker) => speaker === "context")) return "context";
  return speakers.includes("harness") ? "harness" : "report";
}

function speakerOfText(text: string): Voice {
  const trimmed = text.trim();
  if (PROJECT_INSTRUCTIONS.test(trimmed) && trimmed.endsWith("</INSTRUCTIONS>")) return "context";
  const tag = MARKED.exec(trimmed)?.[1];
  if (tag === undefined || !trimmed.endsWith(">") || !endsWithTag(trimmed, tag)) return "user";
  if (CONTEXT_TAGS.has(tag) || (tag.startsWith(EXTERNAL) && trimmed.startsWith(`<${tag}>`))) return "context";
  if (REPORT_TAGS.has(tag)) return "report";
  return HARNESS_TAGS.has(tag) ? "harness" : "user";
}

/** `<permissions instructions>` is ended by `</permissions instructions>`. */
function endsWithTag(text: string, tag: string): boolean {
  return text.endsWith(`</${tag}>`) || text.endsWith(`</${tag} instructions>`);
}

function textOf(part: unknown): string | undefined {
  if (!isRecord(part)) return undefined;
  return part["type"] === "input_text" || part["type"] === "text" ? stringOf(part, "text") : undefined;
}

/** State that each line changes. */
export interface RunningFacts {
  /** RFC 3339 UTC, of the newest dated line. */
  timestamp: string;
  /** Of the first dated line. */
  createdAt?: string;
  /** The directory that the session began in. */
  cwd?: string;
  provider: string;
  model?: string;
  /** Whether the agent is working on a task, and whether the task has a request. */
  task: "none" | "begun" | "asked";
  /** Number of tasks begun. */
  tasks: number;
  /** Whether the session's own description was read: later ones are copies of other sessions'. */
  isDescribed: boolean;
}

/** State before the first line. */
export function noFacts(): RunningFacts {
  return { timestamp: NO_DATE, provider: USUAL_PROVIDER, task: "none", tasks: 0, isDescribed: false };
}

/** Updates the facts with a parsed line. */
export function updateFacts(facts: RunningFacts, line: RawLine): void {
  const payload = payloadOf(line);
  const time = readTimestamp(line["timestamp"]) ?? facts.timestamp;
  facts.timestamp = time;
  if (time !== NO_DATE) facts.createdAt ??= time;
  switch (line["type"]) {
    case "session_meta":
      if (!facts.isDescribed) readDescription(facts, payload);
      break;
    case "turn_context":
      updateModel(facts, payload);
      break;
    case "event_msg":
      updateFromMessage(facts, payload);
      break;
    default: // says nothing of others
  }
}

function readDescription(facts: RunningFacts, payload: RawLine): void {
  facts.isDescribed = true;
  const cwd = stringOf(payload, "cwd");
  if (cwd !== undefined) facts.cwd = cwd;
  facts.provider = stringOf(payload, "model_provider") ?? facts.provider;
}

function updateFromMessage(facts: RunningFacts, payload: RawLine): void {
  switch (payload["type"]) {
    case "task_started":
    case "turn_started":
      facts.task = "begun";
      facts.tasks++;
      break;
    case "task_complete":
    case "turn_complete":
    case "turn_aborted":
      facts.task = "none";
      break;
    case "thread_settings_applied": {
      const settings = recordOf(payload, "thread_settings") ?? {};
      updateModel(facts, settings);
      facts.provider = stringOf(settings, "model_provider_id") ?? facts.provider;
      break;
    }
    default: // for the agent's display
  }
}

function updateModel(facts: RunningFacts, settings: RawLine): void {
  const model = stringOf(settings, "model");
  if (model !== undefined && model !== "") facts.model = model;
}
