// Notes: what the agent wrote down and no model sees. They keep the small plain values of a line; the whole line lives on in
// the sources of the conversation.

import type { Event } from "../../core/conversation/event.ts";
import { defined } from "../../core/json.ts";
import { type RawLine, recordOf, stringOf } from "../json-line.ts";
import { plainValues } from "../plain-values.ts";
import type { RolloutEntry } from "./rollout-index.ts";
import { payloadOf } from "./rollout-line.ts";

/** What every line or its description of a session says, and nothing about this one. */
const ENVELOPE: ReadonlySet<string> = new Set(["type", "timestamp", "cwd", "instructions"]);

/** Creates the note of a line. */
export function createRolloutNote(line: RawLine, { id, timestamp }: RolloutEntry): Event {
  const payload = payloadOf(line);
  const values = { ...plainValues(payload), ...(line["type"] === "session_meta" && descentOf(payload)) };
  const data = Object.fromEntries(Object.entries(values).filter(([key]) => !ENVELOPE.has(key)));
  return { type: "note", id, timestamp, kind: kindOf(line), ...(Object.keys(data).length > 0 && { data }) };
}

/** Creates the note of what the provider counted for an answer. */
export function createUsageNote(line: RawLine, { id, timestamp, provider, model, messageId }: RolloutEntry): Event {
  const usage = recordOf(recordOf(payloadOf(line), "info") ?? {}, "last_token_usage");
  const metadata = {
    provider,
    ...defined({ model, message_id: messageId }),
    usage,
  };
  return { type: "note", id, timestamp, kind: "usage", metadata };
}

function kindOf(line: RawLine): string {
  const type = stringOf(line, "type") ?? "unknown";
  const isFrame = type === "event_msg" || type === "response_item";
  return (isFrame ? stringOf(payloadOf(line), "type") : undefined) ?? type;
}

/** Where a session comes from: the one that it was forked off, or whose agent began it. */
function descentOf(payload: RawLine): Record<string, unknown> {
  const agent = recordOf(payload, "source")?.["subagent"];
  const spawn = recordOf(recordOf(payload, "source") ?? {}, "subagent") ?? {};
  return {
    ...(typeof agent === "string" && { subagent: agent }),
    ...plainValues(recordOf(spawn, "thread_spawn") ?? {}),
    ...plainValues(recordOf(payload, "git") ?? {}),
  };
}
