// Invented sessions of Gemini CLI, record by record, and what the agent makes of them by its own rules (0.61.0), read a second time.
import { createBufferSource } from "../../src/app/sessions/sources.ts";
import type { Event, Turn } from "../../src/core/conversation/event.ts";
import { readGeminiSession } from "../../src/formats/gemini-cli/agent.ts";
import type { ImportedSession } from "../../src/formats/imported-session.ts";

export type Json = Readonly<Record<string, unknown>>;

export const GEMINI_SESSION = "6e31b1ab-1111-4222-8333-444444444444";
export const MODEL = "gemini-2.5-flash";

/** The time of a record, 0-based: one minute between them. */
export function timeOf(record: number): string {
  return new Date(Date.UTC(2026, 0, 2, 3, 0) + record * 60_000).toISOString();
}

export const header = (more: Json = {}): Json => ({
  sessionId: GEMINI_SESSION,
  projectHash: "7e8989f7",
  startTime: timeOf(0),
  lastUpdated: timeOf(0),
  kind: "main",
  ...more,
});
const message = (id: string, type: string, content: unknown, more: Json = {}): Json => ({ id, type, content, ...more });
export const prompt = (id: string, text: string): Json => message(id, "user", [{ text }]);
export const answer = (id: string, text: string, more: Json = {}): Json =>
  message(id, "gemini", text, { thoughts: [], model: MODEL, ...more });
export const info = (id: string, text: string): Json => message(id, "info", text);
export const touched = (at: number): Json => ({ $set: { lastUpdated: timeOf(at) } });
export const list = (...messages: readonly Json[]): Json => ({ $set: { messages } });
export const wentBack = (id: string): Json => ({ $rewindTo: id });
export const response = (id: string, output: string, name = "read_file"): Json => ({
  functionResponse: { id, name, response: { output } },
});
export const failure = (id: string, error: string, name = "read_file"): Json => ({
  functionResponse: { id, name, response: { error } },
});
export const call = (id: string, output?: string, name = "read_file"): Json => ({
  id,
  name,
  args: { file_path: `${id}.md` },
  ...(output !== undefined && { result: [response(id, output, name)], status: "success" }),
});
export const result = (id: string, callId: string, output: string): Json =>
  message(id, "user", [response(callId, output)]);
export const SURROUNDINGS: Json = message("d04923d38bb0f6017037e74183378ef4", "user", [
  { text: "<session_context>\n- **Workspace Directories:**\n  - /home/ada/tidepool\n</session_context>" },
]);

/** The bytes of a session; messages without a time get that of their place. */
export function sessionBytes(records: readonly (Json | string)[]): Buffer {
  const texts = records.map((record, at) => {
    if (typeof record === "string") return record;
    return JSON.stringify("id" in record ? { timestamp: timeOf(at), ...record } : record);
  });
  return Buffer.from(texts.map((text) => `${text}\n`).join(""));
}

/** The bytes of the same messages as one document. */
export function documentBytes(messages: readonly Json[], more: Json = {}): Buffer {
  const dated = messages.map((one, at) => ({ timestamp: timeOf(at + 1), ...one }));
  return Buffer.from(JSON.stringify({ ...header(more), messages: dated }, null, 2));
}

/** Reads a session. */
export function importGemini(records: readonly (Json | string)[]): ImportedSession {
  return readGeminiSession(createBufferSource(sessionBytes(records)));
}

/** All turns of a session. */
export function turnsOf(session: Pick<ImportedSession, "turnCount" | "readTurn">): readonly Turn[] {
  return Array.from({ length: session.turnCount }, (_, index) => ({ index, events: session.readTurn(index) }));
}

/** Events in words: `user: …`, `call …`, … */
export function outline(events: readonly Event[]): readonly string[] {
  return events.flatMap((event): readonly string[] => {
    switch (event.type) {
      case "chat_request":
        return [`${event.metadata?.origin ?? event.role ?? "user"}: ${textOf(event.content)}`];
      case "chat_response":
        return [
          event.reasoning === undefined ? `answer: ${textOf(event.message)}` : `thought: ${textOf(event.reasoning)}`,
        ];
      case "tool_call_request":
        return [`call ${event.call_id}`];
      case "tool_call_response":
        return [`result ${event.call_id}: ${textOf(event.content)}`];
      case "note":
        return [`note ${event.kind}`];
      default:
        return [];
    }
  });
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part: Json) => part["text"] ?? part["type"]).join("|") : "";
}

const LEFT_OUT = /^\s*(?:$|[/?]|<session_context>|<hook_context>)/;

/** The agent's list of messages once it has loaded a session. */
export function loadedMessages(records: readonly Json[]): readonly Json[] {
  const messages = new Map<string, Json>();
  for (const record of records) {
    const {
      id,
      $rewindTo: back,
      $set: set,
    } = record as { id?: string; $rewindTo?: string; $set?: { messages?: Json[] } };
    if (back !== undefined) {
      const ids = [...messages.keys()];
      for (const gone of ids.slice(Math.max(0, ids.indexOf(back)))) messages.delete(gone);
    } else if (id !== undefined) messages.set(id, record);
    else if (set?.messages !== undefined) {
      messages.clear();
      for (const one of set.messages) messages.set(String(one["id"]), one);
    }
  }
  return [...messages.values()];
}

/** What the agent sends of them, part by part, in words; its own surroundings and results that it repeats left out. */
export function sentWords(messages: readonly Json[]): readonly string[] {
  const words: string[] = [];
  const answered = new Map<string, boolean>();
  const add = (part: Json, role: string): void => {
    const { text, functionCall: called, functionResponse: given } = part as Record<string, Json | string>;
    const { id, name, args, response } = (called ?? given ?? {}) as Record<string, unknown>;
    if (part["thought"] === true) return;
    if (called !== undefined) {
      answered.set(String(id), false);
      words.push(`call ${String(name)} ${JSON.stringify(args)}`);
    } else if (given !== undefined) {
      if (answered.get(String(id)) === true) return;
      answered.set(String(id), true);
      words.push(`result ${String((response as Json)["output"] ?? (response as Json)["error"])}`);
    } else if (String(text).trim() !== "") words.push(`${role}: ${String(text)}`);
  };
  for (const { type, content, toolCalls = [] } of messages as readonly {
    type: string;
    content: string | Json[];
    toolCalls?: Json[];
  }[]) {
    const parts = typeof content === "string" ? [{ text: content }] : content;
    if (type === "user" && ("functionResponse" in (parts[0] ?? {}) || !LEFT_OUT.test(String(parts[0]?.["text"] ?? ""))))
      for (const part of parts) add(part, "user");
    if (type !== "gemini") continue;
    for (const part of parts) add(part, "model");
    if (!parts.some((part) => "functionCall" in part)) for (const one of toolCalls) add({ functionCall: one }, "model");
    for (const one of toolCalls) for (const part of (one["result"] ?? []) as Json[]) add(part, "user");
  }
  return words;
}

/** The records of a session in which everything happens that happens in a session of Gemini CLI. */
export function variedGeminiSession(): readonly Json[] {
  const thoughts = [{ subject: "Plan", description: "Look into it.", timestamp: timeOf(3) }];
  const tokens = { input: 100, output: 5, cached: 0, thoughts: 3, tool: 0, total: 108 };
  const looked = answer("a1", "I look.", { thoughts, tokens });
  const first = [
    prompt("u1", "Which kelp grows here?"),
    { ...looked, toolCalls: [{ ...call("k1", "bull kelp"), agentId: "agent-1" }, call("k2", "giant kelp")] },
    answer("a2", "Bull kelp and giant kelp."),
  ];
  return [
    header(),
    list(SURROUNDINGS),
    ...first.slice(0, 1),
    touched(3),
    looked,
    ...first.slice(1, 2),
    message("r1", "user", [response("k1", "bull kelp"), response("k2", "giant kelp")]),
    ...first.slice(2),
    info("i1", "Gemini CLI update available!"),
    prompt("u2", "Here is the user's editor context as a JSON object. {}"),
    prompt("u3", "And in winter?"),
    answer("a3", "None."),
    prompt("u4", "And on the moon?"),
    answer("a4", "No."),
    wentBack("u4"),
    { $set: { summary: "Kelp in all seasons" } },
    list(
      SURROUNDINGS,
      prompt("s1", "<state_snapshot>Two kinds of kelp grow here.</state_snapshot>"),
      answer("g1", "Got it. Thanks for the additional context!"),
      prompt("c1", "And in winter?"),
      answer("c2", "None."),
    ),
    prompt("u5", "/etc/hosts looks odd"),
    answer("a5", "It does."),
    prompt("u6", "What about rock weed?"),
    { ...answer("a6", ""), toolCalls: [{ ...call("k3"), result: [failure("k3", "no such file")], status: "error" }] },
    message("r3", "user", [failure("k3", "no such file")]),
    answer("a7", "There is none."),
  ];
}
