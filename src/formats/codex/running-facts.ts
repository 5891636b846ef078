// What the lines of a rollout so far say of those that follow: time, model, provider, and whether the agent works.
import { type RawLine, recordOf, stringOf } from "../json-line.ts";
import { NO_DATE, readTimestamp } from "../timestamp.ts";
import { payloadOf } from "./rollout-line.ts";

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
export function followLine(facts: RunningFacts, line: RawLine): void {
  const payload = payloadOf(line);
  const time = readTimestamp(line["timestamp"]) ?? facts.timestamp;
  facts.timestamp = time;
  if (time !== NO_DATE) facts.createdAt ??= time;
  switch (line["type"]) {
    case "session_meta":
      if (!facts.isDescribed) describe(facts, payload);
      break;
    case "turn_context":
      takeModel(facts, payload);
      break;
    case "event_msg":
      followMessage(facts, payload);
      break;
    default: // says nothing of others
  }
}

function describe(facts: RunningFacts, payload: RawLine): void {
  facts.isDescribed = true;
  const cwd = stringOf(payload, "cwd");
  if (cwd !== undefined) facts.cwd = cwd;
  facts.provider = stringOf(payload, "model_provider") ?? facts.provider;
}

function followMessage(facts: RunningFacts, payload: RawLine): void {
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
      takeModel(facts, settings);
      facts.provider = stringOf(settings, "model_provider_id") ?? facts.provider;
      break;
    }
    default: // for the agent's display
  }
}

function takeModel(facts: RunningFacts, settings: RawLine): void {
  const model = stringOf(settings, "model");
  if (model !== undefined && model !== "") facts.model = model;
}
