// Texts that Codex itself puts into the conversation in the user's name or the developer's. Some describe the surroundings
// of the request that follows; the others tell of what happened and belong to where they stand.
import { isRecord, NO_DATE, type RawLine, readTimestamp, recordOf, stringOf } from "../session-source.ts";
import { payloadOf } from "./rollout-line.ts";

/** Whose words a message is: a person's, those that introduce the next request, or other words of the agent's own. */
type Voice = "user" | "context" | "harness";

/** Marks around what introduces a request. */
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

/** Marks around what tells of something that happened. */
const HARNESS_TAGS: ReadonlySet<string> = new Set([
  "turn_aborted",
  "user_shell_command",
  "user_action",
  "subagent_notification",
  "skill",
  "context_window_reminder",
  "rollout_budget",
  "image_resize_notice",
  "codex_internal_context",
  "goal_context",
  "hook_prompt",
  "agent_message_board_notification",
]);

/** Whoever embeds Codex names what it adds to a request: `<external_NAME>`. */
const EXTERNAL = "external_";

const PROJECT_INSTRUCTIONS = /^# AGENTS\.md instructions\b/;
const MARKED = /^<([A-Za-z_]+)(?: [^<>]*)?>/;

/** Tells who speaks in a message of a role other than the assistant's. */
export function speakerOf(item: RawLine): Voice {
  if (stringOf(item, "role") !== "user") return "context";
  const content = item["content"];
  const parts = typeof content === "string" ? [content] : Array.isArray(content) ? content.map(textOf) : [];
  const speakers = parts.map((text) => (text === undefined ? "user" : speakerOfText(text)));
  if (speakers.length === 0 || speakers.includes("user")) return "user";
  return speakers.every((speaker) => speaker === "context") ? "context" : "harness";
}

function speakerOfText(text: string): Voice {
  const trimmed = text.trim();
  if (PROJECT_INSTRUCTIONS.test(trimmed) && trimmed.endsWith("</INSTRUCTIONS>")) return "context";
  const tag = MARKED.exec(trimmed)?.[1];
  if (tag === undefined || !trimmed.endsWith(">") || !endsWithTag(trimmed, tag)) return "user";
  if (CONTEXT_TAGS.has(tag) || (tag.startsWith(EXTERNAL) && trimmed.startsWith(`<${tag}>`))) return "context";
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

/** Whoever is asked where nothing says so. */
const USUAL_PROVIDER = "openai";

/** Changed by each line. */
export interface RunningFacts {
  /** RFC 3339 UTC, of the newest dated line. */
  timestamp: string;
  /** Of the first dated line. */
  createdAt?: string;
  /** The directory that the session began in. */
  cwd?: string;
  provider: string;
  model?: string;
  /** Whether the agent works on a task, and has been asked something in it. */
  task: "none" | "begun" | "asked";
  /** How many tasks it began. */
  tasks: number;
  /** Whether the session has described itself: what describes another one further down is copied from there. */
  isDescribed: boolean;
}

/** What is known before the first line. */
export function noFacts(): RunningFacts {
  return { timestamp: NO_DATE, provider: USUAL_PROVIDER, task: "none", tasks: 0, isDescribed: false };
}

/** Takes in what a parsed line says. */
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
