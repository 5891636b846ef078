// A view as a rollout: the items that Codex will send, what it shows of them, and that an import knows the lines again. That
// Codex sends exactly these is shown with the real one in test/e2e/codex-goldens.test.ts.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import type { Event, View } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { CODEX, readCodexSession } from "../../../src/formats/codex/agent.ts";
import { writeCodexSession } from "../../../src/formats/codex/write.ts";
import { lineName, lineUuid, listLineSources } from "../../../src/formats/imported-session.ts";
import {
  codexLines,
  importRollout,
  type Json,
  meta,
  outline,
  prompt,
  rolloutBytes,
  saidIn,
  turnsOf,
} from "../../helpers/codex-session.ts";

const SESSION = "6f1a2b3c-0000-4000-8000-00000000abcd";
const ORIGIN = { conversation: "kelp-k3f9", branch: "kelp-k3f9/main", commit: "a".repeat(40) };
const sha1 = (bytes: Uint8Array): Uint8Array => createHash("sha1").update(bytes).digest();
const AT = "2026-03-04T05:06:07.000Z";

const draftOf = (view: View, more: { readonly model?: string } = {}) => ({
  view,
  sessionId: SESSION,
  origin: ORIGIN,
  cwd: "/home/ada/tidepool",
  title: "Kelp",
  sha1,
  sha256: (text: string) => text,
  ...more,
});
const write = (view: View, model?: string): string =>
  writeCodexSession(draftOf(view, model === undefined ? {} : { model }));
const linesOf = (text: string): readonly Json[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Json);
const itemsOf = (text: string): readonly Json[] =>
  linesOf(text)
    .filter(({ type }) => type === "response_item")
    .map(({ payload }) => payload as Json);
const viewOf = (...events: readonly Event[]): View => ({ turns: [{ origin: { kind: "kept", turn: 0 }, events }] });
const event = (id: string, body: Json): Event => ({ id, timestamp: AT, ...body }) as unknown as Event;

const SESSION_LINES = codexLines("019b1111-2222-7333-8444-555555555556");
const imported = readCodexSession(createBufferSource(rolloutBytes(SESSION_LINES)));
const whole = projectTurns(turnsOf(imported), []);

describe("an exported rollout", () => {
  it("describes the session first, then jpg's side line, and gives each line the time of what it shows", () => {
    const [description, side, title] = linesOf(write(whole));
    expect(description).toMatchObject({
      type: "session_meta",
      payload: { id: SESSION, cwd: "/home/ada/tidepool", originator: "jpg", cli_version: "0.171.0", source: "cli" },
    });
    expect(description?.["payload"]).not.toHaveProperty("model_provider");
    expect(side).toMatchObject({ type: "jpg-origin", ...ORIGIN, sessionId: SESSION });
    expect(title?.["payload"]).toEqual({ type: "thread_name_updated", thread_id: SESSION, thread_name: "Kelp" });
    const times = linesOf(write(whole)).map(({ timestamp }) => String(timestamp));
    expect(times.every((time) => /^\d{4}-.*Z$/.test(time))).toBe(true);
    expect(times).toEqual([...times].sort());
  });

  it("comes back with the same turns, titles and words", () => {
    const again = readCodexSession(createBufferSource(Buffer.from(write(whole))));
    expect(again).toMatchObject({ sessionId: SESSION, origin: ORIGIN, cwd: "/home/ada/tidepool", skippedLines: [] });
    expect(again.titles.map(({ title }) => title)).toEqual(["Kelp"]);
    expect(turnsOf(again).map(({ index }) => outline(saidIn(again, index)))).toEqual(
      turnsOf(imported).map(({ index }) => outline(saidIn(imported, index))),
    );
  });

  it("is known again line by line, by names that need no export", () => {
    const summary: Compaction = {
      type: "compaction",
      id: "summ1",
      timestamp: "2030-01-01T00:00:00.000Z",
      from_turn: 0,
      to_turn: 0,
      summary: { summary: "We mapped the beds." },
    };
    for (const view of [whole, projectTurns(turnsOf(imported), [...imported.compactions, summary])]) {
      const again = readCodexSession(createBufferSource(Buffer.from(write(view))));
      const names = new Set<string>();
      for (const { name } of listLineSources(view))
        for (let n = 0; n < 5; n++) names.add(lineUuid(SESSION, lineName(name, n), sha1));
      const marks = linesOf(write(view)).flatMap(({ jpg }) => (jpg === undefined ? [] : [String(jpg)]));
      expect(marks.filter((mark) => !names.has(mark))).toEqual([]);
      expect(marks.every((mark) => again.hasLine(mark))).toBe(true);
      expect(new Set(marks).size).toBe(marks.length);
      expect(marks).toHaveLength(itemsOf(write(view)).length + 1);
    }
  });

  it("shows a person's words and the model's, and nothing that the agent said to the model", () => {
    const shown = linesOf(write(whole)).flatMap(({ type, payload }) => {
      const { type: kind, message, text } = (payload ?? {}) as Json;
      return type === "event_msg" && /^(user|agent)_/.test(String(kind))
        ? [`${String(kind)}: ${String(message ?? text)}`]
        : [];
    });
    expect(shown).toEqual([
      "user_message: Which kelp grows here?",
      "agent_reasoning: I should look.\nTwice.",
      "user_message: faster",
      "agent_message: Bull kelp.",
      "user_message: And in winter?",
      "agent_message: None.",
      "user_message: Four",
      "agent_message: b",
    ]);
  });

  it("leaves OpenAI's own compaction where it stood, as it came", () => {
    const items = itemsOf(write(projectTurns(turnsOf(imported), imported.compactions)));
    expect(items.slice(0, 2).map(({ type }) => type)).toEqual(["message", "compaction"]);
    expect(items[1]).toEqual({ type: "compaction", encrypted_content: "X" });
  });

  it("stores items as Codex does: reasoning with its summary, shell calls, free texts", () => {
    const items = itemsOf(write(whole));
    expect(items.filter(({ type }) => type !== "message")).toEqual([
      {
        type: "reasoning",
        summary: [
          { type: "summary_text", text: "I should look." },
          { type: "summary_text", text: "Twice." },
        ],
        encrypted_content: "enc1",
      },
      { type: "function_call", call_id: "c1", name: "exec_command", arguments: '{"cmd":"ls"}' },
      { type: "custom_tool_call", call_id: "c2", name: "apply_patch", input: "*** Begin Patch" },
      { type: "function_call_output", call_id: "c1", output: "kelp.md" },
      { type: "custom_tool_call_output", call_id: "c2", output: "done" },
      { type: "local_shell_call", call_id: "c3", status: "completed", action: { type: "exec", command: ["ls"] } },
      { type: "function_call_output", call_id: "c3", output: "Exit code: 1\nOutput:\nno" },
      { type: "web_search_call", status: "completed", action: { type: "search", query: "kelp" } },
    ]);
  });

  it("leaves reasoning of other providers and of another family than the reader's out", () => {
    const thought = (id: string, metadata: Json) => event(id, { type: "chat_response", reasoning: "hm", metadata });
    const view = viewOf(
      event("r", { type: "chat_request", content: "x" }),
      thought("a", { provider: "anthropic", model: "claude-opus-4-8", signature: "s" }),
      thought("b", { provider: "google", encrypted: "g" }),
      thought("c", { provider: "openai", model: "gpt-5.5", encrypted: "o" }),
      thought("d", { provider: "azure-east", model: "gpt-5.5", encrypted: "z" }),
      thought("e", { provider: "groq" }),
      event("m", { type: "chat_response", message: "ok" }),
    );
    const encrypted = (text: string) => itemsOf(text).flatMap((item) => item["encrypted_content"] ?? []);
    expect(encrypted(write(view))).toEqual(["o", "z"]);
    expect(encrypted(write(view, "o3"))).toEqual([]);
  });

  it("says what another agent's harness said as the developer: Codex sends no message of the system's", () => {
    const view = viewOf(
      event("h", {
        type: "chat_request",
        role: "system",
        content: "The date changed.",
        metadata: { origin: "harness" },
      }),
      event("r", { type: "chat_request", content: "x" }),
    );
    expect(itemsOf(write(view)).map(({ role }) => role)).toEqual(["developer", "user"]);
  });

  it("makes up the output that a call lacks, as a further line of the call", () => {
    const view = viewOf(
      event("r", { type: "chat_request", content: "x" }),
      event("c", { type: "tool_call_request", call_id: "c1", name: "Bash", arguments: { command: "ls" } }),
    );
    const [, call, made] = linesOf(write(view)).filter(({ type }) => type === "response_item");
    expect(made?.["payload"]).toMatchObject({ type: "function_call_output", call_id: "c1" });
    expect(call?.["jpg"]).toBe(lineUuid(SESSION, "c", sha1));
    expect(made?.["jpg"]).toBe(lineUuid(SESSION, lineName("c", 1), sha1));
  });

  it("is the same bytes for the same view", () => {
    expect(write(whole)).toBe(write(whole));
  });
});

describe("Codex on a machine", () => {
  const machine = {
    env: {},
    home: "/home/ada",
    join: (...names: string[]) => names.join("/"),
    sha256: () => "",
    readText: () => null,
    namesIn: () => [],
  };
  const dated = viewOf(event("r", { type: "chat_request", content: "x" }));

  it("is given a session in the folder of its newest day, by its id", () => {
    expect(CODEX.resume?.(machine, draftOf(dated))).toMatchObject({
      path: `/home/ada/.codex/sessions/2026/03/04/rollout-2026-03-04T05-06-07-${SESSION}.jsonl`,
      elsewhere: [
        `/home/ada/.codex/sessions/2026/03/04/rollout-2026-03-04T05-06-07-${SESSION}.jsonl.zst`,
        `/home/ada/.codex/archived_sessions/rollout-2026-03-04T05-06-07-${SESSION}.jsonl`,
      ],
      command: ["codex", "resume", SESSION],
    });
    const moved = CODEX.resume?.({ ...machine, env: { CODEX_HOME: "/srv/codex" } }, draftOf(dated));
    expect(moved?.path).toMatch(/^\/srv\/codex\/sessions\/2026\//);
  });

  it("keeps the sessions of all directories together, each named by the first directory in its file", () => {
    const folders = CODEX.files.folders?.(machine, "/home/ada/tidepool") ?? [];
    expect(folders.map(({ path, levels }) => [path, levels])).toEqual([
      ["/home/ada/.codex/sessions", 3],
      ["/home/ada/.codex/archived_sessions", undefined],
    ]);
    const told = (text: string) => CODEX.files.directory?.(createBufferSource(Buffer.from(text)), "02");
    const first = (payload: Json) => JSON.stringify({ type: "session_meta", payload });
    expect(told(first({ cwd: "/home/ada/tidepool" }))).toEqual({ path: "/home/ada/tidepool" });
    expect(told(first({ text: '"cwd":"/home/ada/tidepool"', cwd: "/srv" }))).toEqual({ path: "/srv" });
    const long = first({ cwd: "/home/ada/tidepool", base_instructions: { text: "k".repeat(100_000) } });
    expect(told(long.slice(0, 64 * 1024))).toEqual({ path: "/home/ada/tidepool" });
    expect(["", "no json", '{"cwd":"\\x"}', '{"cwd":""}'].map(told)).toEqual([null, null, null, null]);
  });

  it("knows the session of the Codex that asks", () => {
    const isCallers = (env: Record<string, string>, name: string) => CODEX.files.isCallers?.(env, name);
    const name = `rollout-2026-03-04T05-06-07-${SESSION}.jsonl`;
    expect(isCallers({ CODEX_THREAD_ID: SESSION }, name)).toBe(true);
    expect(isCallers({ CODEX_THREAD_ID: "other" }, name)).toBe(false);
    expect(isCallers({}, name)).toBe(false);
    expect(isCallers({ CODEX_THREAD_ID: "" }, name)).toBe(false);
  });

  it("reads an origin that jpg wrote from its own line only", () => {
    expect(CODEX.origin(createBufferSource(Buffer.from(write(dated))))).toEqual(ORIGIN);
    expect(importRollout([meta(), prompt("x"), { type: "jpg-origin", format: 1, ...ORIGIN }]).origin).toBeUndefined();
  });
});
