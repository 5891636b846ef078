// Writes invented sessions of OpenCode, message by message, as `opencode export` prints them.
import { createBufferSource } from "../../src/app/sessions/sources.ts";
import { type Content, type ContentPart, type Event, plainText } from "../../src/core/conversation/event.ts";
import { projectTurns } from "../../src/core/conversation/projection.ts";
import type { ImportedSession } from "../../src/formats/imported-session.ts";
import { readOpenCodeSession } from "../../src/formats/opencode/agent.ts";

type Json = Record<string, unknown>;

export const OPENCODE_SESSION = "ses_5ea1f00d0000kelpkelpkelp01";
const START = Date.parse("2026-01-02T10:00:00.000Z");
const TOKENS = { input: 3, output: 5, reasoning: 1, cache: { read: 7, write: 11 } };
const MODEL = { providerID: "anthropic", modelID: "claude-sonnet-4-5" };

interface WrittenMessage {
  readonly info: Json;
  readonly parts: Json[];
}

export interface OpenCodeWriter {
  readonly info: Json;
  readonly messages: WrittenMessage[];
  /** Adds a message of a person, of texts and parts as they are, and gives its id. */
  user(...parts: readonly (string | Json)[]): string;
  /** Likewise an answer; `more` = of its description. */
  say(...parts: readonly (string | Json)[]): string;
  answer(more: Json, ...parts: readonly (string | Json)[]): string;
  /** Something typed while the newest answer was written. */
  queue(text: string): string;
  /** A question for a summary and its answer; `tail` = the first message that stays. */
  compact(text: string, tail?: string): string;
  bytes(): Buffer;
}

/** A call with its result as a part. */
export function openCodeCall(callID: string, output: string | null = "kelp", more: Json = {}): Json {
  const time = { start: START, end: START };
  const input = { command: `ls ${callID}` };
  const state =
    output === null
      ? { status: "running", input, time: { start: START } }
      : { status: "completed", input, output, title: "ls", metadata: {}, time };
  return { type: "tool", callID, tool: "bash", state: { ...state, ...more } };
}

/** Starts a session, or goes on with messages that are there. */
export function createOpenCodeWriter(more: Json = {}, before: readonly WrittenMessage[] = []): OpenCodeWriter {
  const messages: WrittenMessage[] = [...before];
  let clock = before.length === 0 ? 0 : 10_000;
  let asked = "msg_none";
  const info = {
    id: OPENCODE_SESSION,
    slug: "brave-kelp",
    projectID: "global",
    directory: "/home/me/kelp",
    title: "Kelp beds",
    version: "1.18.33",
    time: { created: START, updated: START },
    ...more,
  };
  const add = (role: "user" | "assistant", fields: Json, parts: readonly (string | Json)[]): string => {
    clock += 10;
    const id = `msg_${String(messages.length).padStart(4, "0")}kelp`;
    const place = { sessionID: info.id, messageID: id };
    messages.push({
      info: { id, sessionID: info.id, role, time: { created: START + clock * 1000 }, ...fields },
      parts: parts.map((part, at) => ({
        id: `prt_${String(messages.length).padStart(4, "0")}${String(at).padStart(4, "0")}`,
        ...place,
        ...(typeof part === "string" ? { type: "text", text: part } : part),
      })),
    });
    return id;
  };
  const answer = (fields: Json, parts: readonly (string | Json)[]): string => {
    const calls = parts.some((part) => typeof part !== "string" && part["type"] === "tool");
    const path = { cwd: "/home/me/kelp", root: "/" };
    const created = START + (clock + 10) * 1000;
    const time = { created, completed: created + 5000 };
    const usual = { parentID: asked, ...MODEL, mode: "build", agent: "build", path, cost: 0.25, tokens: TOKENS, time };
    return add("assistant", { ...usual, finish: calls ? "tool-calls" : "stop", ...fields }, parts);
  };
  const user = (parts: readonly (string | Json)[], fields: Json = {}): string => {
    asked = add("user", { agent: "build", model: MODEL, ...fields }, parts);
    return asked;
  };
  return {
    info,
    messages,
    user: (...parts) => user(parts),
    say: (...parts) => answer({}, parts),
    answer: (fields, ...parts) => answer(fields, parts),
    queue: (text) => user([text], { time: { created: START + clock * 1000 + 1000 } }),
    compact: (text, tail) => {
      user([{ type: "compaction", auto: false, ...(tail !== undefined && { tail_start_id: tail }) }]);
      return answer({ summary: true, mode: "compaction", agent: "compaction", finish: "stop" }, [text]);
    },
    bytes: () => Buffer.from(JSON.stringify({ info, messages }, null, 2)),
  };
}

/** A session with a part of every kind. */
export function variedOpenCodeSession(id: string): OpenCodeWriter {
  const session = createOpenCodeWriter({ id, parentID: "ses_parent" });
  const image = { type: "file", mime: "image/png", filename: "bed.png", url: "data:image/png;base64,iVBO" };
  session.user("map the beds", image, { type: "text", text: "Called the Read tool", synthetic: true });
  session.say(
    { type: "step-start", snapshot: "abc" },
    {
      type: "reasoning",
      text: "hm",
      metadata: { anthropic: { signature: "c2ln" } },
      time: { start: START, end: START },
    },
    "on it",
    openCodeCall("c1"),
    openCodeCall("c2", "sand", { time: { start: START, end: START, compacted: START + 3_600_000 } }),
    { type: "patch", hash: "abc", files: ["/home/me/kelp/a.txt"] },
    { type: "step-finish", reason: "tool-calls", cost: 0.25, tokens: TOKENS },
  );
  session.queue("also the reef");
  session.say(
    openCodeCall("c3", null, { status: "error", error: "no such reef", time: { start: START, end: START } }),
    openCodeCall("c4", "chart", { attachments: [{ ...image, id: "prt_a", sessionID: id, messageID: "msg_a" }] }),
  );
  session.say("mapped");
  const kept = session.user("go on", { type: "text", text: "not for the model", ignored: true });
  session.answer({ error: { name: "APIError", data: { message: "overloaded", isRetryable: true } } }, "I was");
  session.answer(
    { error: { name: "MessageAbortedError", data: { message: "stopped" } } },
    "half",
    openCodeCall("c5", null),
  );
  session.compact("All was mapped.", kept);
  session.user({ type: "text", text: "Continue if you have next steps.", synthetic: true });
  session.say("nothing left");
  session.user("and now?");
  session.say({ type: "step-start" }, "first", openCodeCall("c6"), { type: "step-start" }, "done", openCodeCall("c7"));
  return session;
}

/** Reads what was written. */
export function readOpenCode(writer: Pick<OpenCodeWriter, "bytes"> | string): ImportedSession {
  return readOpenCodeSession(createBufferSource(typeof writer === "string" ? Buffer.from(writer) : writer.bytes()));
}

/** All turns of a session. */
export function turnsOfSession(
  session: ImportedSession,
): { readonly index: number; readonly events: readonly Event[] }[] {
  return Array.from({ length: session.turnCount }, (_, index) => ({ index, events: session.readTurn(index) }));
}

/** What its model is sent, a line each: who speaks and a text; calls and results by id. */
export function sentLines(session: ImportedSession, compactions = session.compactions): readonly string[] {
  const { turns } = projectTurns(turnsOfSession(session), compactions);
  return turns.flatMap(({ events }) => linesOfEvents(events));
}

/** The same of some events. */
export function linesOfEvents(events: readonly Event[]): readonly string[] {
  return events.flatMap(linesOfEvent);
}

function linesOfEvent(event: Event): readonly string[] {
  switch (event.type) {
    case "chat_request":
      return textsOf(event.content).map((text) => `user: ${text}`);
    case "chat_response":
      return event.reasoning === undefined
        ? textsOf(event.message ?? "").map((text) => `assistant: ${text}`)
        : [`reasoning: ${plainText(event.reasoning)}`];
    case "tool_call_request":
      return [`call ${event.call_id}`];
    case "tool_call_response":
      return [`result ${event.call_id}: ${textsOf(event.content).join(" ")}`];
    default:
      return [];
  }
}

function textsOf(content: Content): readonly string[] {
  if (typeof content === "string" || !Array.isArray(content)) return [plainText(content as string)];
  return (content as readonly ContentPart[]).map((part) => (part.type === "text" ? plainText(part.text) : part.type));
}
