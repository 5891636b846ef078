// Invented rollouts of Codex, line by line: one minute between lines, so that times rise.
import { createBufferSource } from "../../src/app/sessions/sources.ts";
import type { Event, Turn } from "../../src/core/conversation/event.ts";
import { readCodexSession } from "../../src/formats/codex/agent.ts";
import type { ImportedSession } from "../../src/formats/imported-session.ts";

export type Json = Readonly<Record<string, unknown>>;

export const CODEX_SESSION = "019b1111-2222-7333-8444-555555555555";

/** The time of a line, 0-based. */
export function timeOf(line: number): string {
  return new Date(Date.UTC(2026, 0, 2, 3, 0) + line * 60_000).toISOString();
}

/** A line without its time. */
export interface CodexLine {
  readonly type: string;
  readonly payload: Json;
  readonly [more: string]: unknown;
}

export const meta = (more: Json = {}): CodexLine => ({
  type: "session_meta",
  payload: {
    id: CODEX_SESSION,
    timestamp: timeOf(0),
    cwd: "/home/ada/tidepool",
    originator: "codex-tui",
    cli_version: "0.169.0",
    source: "cli",
    model_provider: "openai",
    ...more,
  },
});
export const item = (payload: Json): CodexLine => ({ type: "response_item", payload });
export const message = (payload: Json): CodexLine => ({ type: "event_msg", payload });
const words = (role: string, type: string, ...texts: readonly string[]): Json => ({
  type: "message",
  role,
  content: texts.map((text) => ({ type, text })),
});
export const said = (...texts: readonly string[]): Json => words("user", "input_text", ...texts);
export const prompt = (...texts: readonly string[]): CodexLine => item(said(...texts));
export const developer = (...texts: readonly string[]): CodexLine => item(words("developer", "input_text", ...texts));
export const answer = (...texts: readonly string[]): CodexLine => item(words("assistant", "output_text", ...texts));
export const reasoning = (encrypted: string, ...summary: readonly string[]): CodexLine =>
  item({
    type: "reasoning",
    summary: summary.map((text) => ({ type: "summary_text", text })),
    encrypted_content: encrypted,
  });
export const call = (id: string, cmd = "ls"): CodexLine =>
  item({ type: "function_call", name: "exec_command", arguments: JSON.stringify({ cmd }), call_id: id });
export const output = (id: string, text = "kelp.md"): CodexLine =>
  item({ type: "function_call_output", call_id: id, output: text });
export const started = (turn: string): CodexLine => message({ type: "task_started", turn_id: turn });
export const complete = (turn: string): CodexLine => message({ type: "task_complete", turn_id: turn });
export const model = (name: string): CodexLine => ({
  type: "turn_context",
  payload: { model: name, cwd: "/elsewhere" },
});
export const wentBack = (turns: number): CodexLine => message({ type: "thread_rolled_back", num_turns: turns });
export const compacted = (replacement: readonly Json[]): CodexLine => ({
  type: "compacted",
  payload: { message: "", replacement_history: replacement },
});
/** A compaction of the first versions: a summary, and no list of what is sent. */
export const compactedSummary = (text: string): CodexLine => ({ type: "compacted", payload: { message: text } });
export const counted = (total: number, last = total): CodexLine =>
  message({
    type: "token_count",
    info: {
      total_token_usage: { input_tokens: total, total_tokens: total },
      last_token_usage: { input_tokens: last, cached_input_tokens: 10, output_tokens: 5, total_tokens: last + 5 },
    },
  });
export const ENVIRONMENT = "<environment_context>\n  <cwd>/home/ada/tidepool</cwd>\n</environment_context>";

/** The bytes of a rollout; lines without a time get theirs. */
export function rolloutBytes(lines: readonly (Json | string)[]): Buffer {
  const texts = lines.map((line, at) =>
    typeof line === "string" ? line : JSON.stringify({ timestamp: timeOf(at), ...line }),
  );
  return Buffer.from(texts.map((text) => `${text}\n`).join(""));
}

/** Reads a rollout. */
export function importRollout(lines: readonly (Json | string)[]): ImportedSession {
  return readCodexSession(createBufferSource(rolloutBytes(lines)));
}

/** All turns of a session. */
export function turnsOf(session: Pick<ImportedSession, "turnCount" | "readTurn">): readonly Turn[] {
  return Array.from({ length: session.turnCount }, (_, index) => ({ index, events: session.readTurn(index) }));
}

/** The events of a turn without its start, notes left out. */
export function saidIn(session: ImportedSession, turn: number): readonly Event[] {
  return session.readTurn(turn).filter(({ type }) => type !== "turn_start" && type !== "note");
}

/** A turn in words: `user: …`, `call`, … */
export function outline(events: readonly Event[]): readonly string[] {
  return events.map((event) => {
    switch (event.type) {
      case "chat_request":
        return `${event.metadata?.origin ?? event.role ?? "user"}: ${textOf(event.content)}`;
      case "chat_response":
        return event.reasoning === undefined
          ? `answer: ${textOf(event.message)}`
          : `reasoning: ${textOf(event.reasoning)}`;
      case "tool_call_request":
        return `call ${event.call_id}`;
      case "tool_call_response":
        return `output ${event.call_id}`;
      case "note":
        return `note ${event.kind}`;
      default:
        return event.type;
    }
  });
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part: Json) => part["text"] ?? part["type"]).join("|") : "";
}

/** The lines of a session in which everything happens that happens in a session of Codex. */
export function codexLines(session: string): readonly Json[] {
  const lines: readonly Json[] = [
    meta({ id: session }),
    started("t1"),
    developer("<permissions instructions>all</permissions instructions>"),
    prompt(ENVIRONMENT),
    model("gpt-5.5"),
    prompt("Which kelp grows here?"),
    reasoning("enc1", "I should look.", "Twice."),
    call("c1"),
    item({ type: "custom_tool_call", call_id: "c2", name: "apply_patch", input: "*** Begin Patch" }),
    output("c1"),
    item({ type: "custom_tool_call_output", call_id: "c2", output: [{ type: "input_text", text: "done" }] }),
    counted(100),
    prompt("faster"),
    answer("Bull kelp."),
    complete("t1"),
    started("t2"),
    prompt("And in winter?"),
    item({ type: "local_shell_call", call_id: "c3", status: "completed", action: { type: "exec", command: ["ls"] } }),
    output("c3", "Exit code: 1\nOutput:\nno"),
    item({ type: "web_search_call", status: "completed", action: { type: "search", query: "kelp" } }),
    answer("None."),
    complete("t2"),
    compacted([said("Which kelp grows here?"), { type: "compaction", encrypted_content: "X" }]),
    message({ type: "thread_name_updated", thread_name: "Kelp" }),
    started("t3"),
    prompt("Three"),
    answer("a"),
    wentBack(1),
    prompt("Four"),
    answer("b"),
  ];
  return lines.map((line, at) => ({ timestamp: timeOf(at), ...line }));
}
