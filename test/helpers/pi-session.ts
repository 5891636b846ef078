// Writes invented sessions of pi, entry by entry, as the agent does: each follows the newest, unless one goes back.
import { createBufferSource } from "../../src/app/sessions/sources.ts";
import type { Event } from "../../src/core/conversation/event.ts";
import { projectTurns } from "../../src/core/conversation/projection.ts";
import { exportAnthropic } from "../../src/formats/anthropic/write.ts";
import type { ImportedSession } from "../../src/formats/imported-session.ts";
import { readPiSession } from "../../src/formats/pi/read.ts";

type Json = Record<string, unknown>;

export const PI_SESSION = "019b1c5e-0000-7000-8000-00000000c0de";
const START = Date.parse("2026-01-02T10:00:00.000Z");
const USAGE = { input: 3, output: 5, cacheRead: 7, cacheWrite: 11, totalTokens: 26, cost: { total: 0.25 } };

export interface PiWriter {
  readonly lines: Json[];
  /** Adds an entry behind the newest one and gives its id. */
  add(entry: Json): string;
  user(text: string, more?: Json): string;
  /** An answer of texts, and blocks as they are. */
  say(...blocks: readonly (string | Json)[]): string;
  /** An answer that was broken off. */
  fail(reason: "aborted" | "error", ...blocks: readonly (string | Json)[]): string;
  result(call: string, text: string, more?: Json): string;
  /** Goes back: the next entry follows this one; null = none. */
  goTo(id: string | null): void;
  bytes(): Buffer;
}

/** A call as a block. */
export function piCall(id: string, name = "bash", args: Json = { command: "ls" }): Json {
  return { type: "toolCall", id, name, arguments: args };
}

/** Starts a session. Version 1 has no ids. */
export function createPiWriter({ version = 3, header = {} }: { version?: 1 | 2 | 3; header?: Json } = {}): PiWriter {
  const lines: Json[] = [];
  const time = (at: number): string => new Date(START + at * 1000).toISOString();
  let leaf: string | null = null;
  lines.push({
    type: "session",
    ...(version > 1 && { version }),
    id: PI_SESSION,
    timestamp: time(0),
    cwd: "/home/me/kelp",
    ...header,
  });
  const add = ({ type, ...rest }: Json): string => {
    const at = lines.length;
    const id = at.toString(16).padStart(8, "0");
    lines.push({ type, ...(version > 1 && { id, parentId: leaf }), timestamp: time(at), ...rest });
    leaf = id;
    return id;
  };
  const message = (role: string, fields: Json): string =>
    add({ type: "message", message: { role, timestamp: START + lines.length * 1000, ...fields } });
  const answer = (stopReason: string | undefined, blocks: readonly (string | Json)[], more: Json = {}): string => {
    const content = blocks.map((block) => (typeof block === "string" ? { type: "text", text: block } : block));
    const usual = content.some((block) => block["type"] === "toolCall") ? "toolUse" : "stop";
    const made = { api: "anthropic-messages", provider: "anthropic", model: "claude-sonnet-4-5" };
    return message("assistant", { content, ...made, usage: USAGE, stopReason: stopReason ?? usual, ...more });
  };
  return {
    lines,
    add,
    user: (text, more = {}) => message("user", { content: [{ type: "text", text }], ...more }),
    say: (...blocks) => answer(undefined, blocks),
    fail: (reason, ...blocks) => answer(reason, blocks, { errorMessage: "Request was aborted" }),
    result: (call, text, more = {}) =>
      message("toolResult", {
        toolCallId: call,
        toolName: "bash",
        content: [{ type: "text", text }],
        isError: false,
        ...more,
      }),
    goTo: (id) => {
      leaf = id;
    },
    bytes: () => Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join("")),
  };
}

/** A session with an entry of every kind that pi writes, on two branches. */
export function variedPiSession(id: string, version: 1 | 2 | 3 = 3): PiWriter {
  const pi = createPiWriter({ version, header: { id, parentSession: "/home/me/parent.jsonl" } });
  pi.add({ type: "model_change", provider: "anthropic", modelId: "claude-sonnet-4-5" });
  const system = { role: "system", content: "", toolsAdded: [{ name: "bash", description: "Runs.", parameters: {} }] };
  pi.add({ type: "message", message: system });
  const first = pi.user("map the beds", {
    content: [
      { type: "text", text: "map" },
      { type: "image", data: "iVBO", mimeType: "image/png" },
    ],
  });
  const answer = pi.say(
    { type: "thinking", thinking: "hm", thinkingSignature: "c2ln" },
    "on it",
    piCall("c1"),
    piCall("c2"),
  );
  pi.result("c1", "kelp");
  const result = pi.result("c2", "sand", { isError: true, details: { diff: "-sand" } });
  pi.user("also the reef", { timestamp: START });
  pi.fail("aborted", "I was", piCall("c3"));
  const left = pi.user("left");
  pi.say("left, too");
  pi.goTo(left === first ? null : result);
  pi.add({ type: "branch_summary", fromId: left, summary: "We tried sand." });
  const kept = pi.user("go on");
  pi.say("gone on");
  pi.add({
    type: "message",
    message: { role: "bashExecution", command: "ls", output: "kelp", exitCode: 1, timestamp: START },
  });
  pi.add({
    type: "custom_message",
    customType: "tide",
    content: [{ type: "text", text: "The tide is out." }],
    display: true,
  });
  pi.add({ type: "label", targetId: answer, label: "here" });
  pi.add({
    type: "compaction",
    summary: "All was mapped.",
    firstKeptEntryId: kept,
    firstKeptEntryIndex: 13,
    tokensBefore: 9,
  });
  pi.add({ type: "context_edit", targetId: kept, replacement: { content: "go on, please" } });
  pi.add({ type: "session_info", name: "Kelp beds" });
  pi.add({ type: "usage", kind: "cache_warm", usage: USAGE });
  pi.user("and now?");
  pi.say("done");
  return pi;
}

/** Reads what was written. */
export function readPi(writer: Pick<PiWriter, "bytes"> | string): ImportedSession {
  return readPiSession(createBufferSource(typeof writer === "string" ? Buffer.from(writer) : writer.bytes()));
}

/** All turns of a session. */
export function turnsOf(session: ImportedSession): { readonly index: number; readonly events: readonly Event[] }[] {
  return Array.from({ length: session.turnCount }, (_, index) => ({ index, events: session.readTurn(index) }));
}

/** What its model is sent, a line each: role and texts; calls and results by id. */
export function sentOf(session: ImportedSession, compactions = inForce(session)): readonly string[] {
  const { messages } = exportAnthropic(projectTurns(turnsOf(session), compactions));
  return messages.flatMap(({ role, content }) =>
    (typeof content === "string" ? [{ type: "text", text: content }] : (content as readonly Json[])).map(
      (block) => `${role}: ${wordsOfBlock(block)}`,
    ),
  );
}

/** What a block says, on a line. */
export function wordsOfBlock(block: Json): string {
  if (block["type"] === "text") return String(block["text"]);
  if (block["type"] === "tool_use") return `call ${String(block["id"])}`;
  if (block["type"] === "tool_result")
    return `result ${String(block["tool_use_id"])} ${JSON.stringify(block["content"])}`;
  return JSON.stringify(block);
}

/** The compactions of a session that were not taken back. */
export function inForce({ compactions, live }: ImportedSession): ImportedSession["compactions"] {
  const undone = new Set(live?.undone.map(({ compaction }) => compaction));
  return compactions.filter(({ id }) => !undone.has(id));
}
