// @module-tag law
// A view as a session of Gemini CLI: what stands in it, where it goes, and that an import knows it again. That Gemini CLI sends
// exactly this is shown with the real one in test/e2e/gemini-goldens.test.ts.
import { createHash } from "node:crypto";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { type Event, traitsOf, type View } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import type { Machine } from "../../../src/formats/agent-format.ts";
import { GEMINI_CLI, readGeminiSession } from "../../../src/formats/gemini-cli/agent.ts";
import { writeGeminiSession } from "../../../src/formats/gemini-cli/write.ts";
import { lineName, lineUuid } from "../../../src/formats/imported-session.ts";
import { importGemini, type Json, outline, turnsOf, variedGeminiSession } from "../../helpers/gemini-session.ts";
import { anySteps, writeSteps } from "../../helpers/gemini-steps.ts";
import { runs } from "../../helpers/runs.ts";

const SESSION = "6f1a2b3c-0000-4000-8000-00000000abcd";
const ORIGIN = { conversation: "kelp-k3f9", branch: "kelp-k3f9/main", commit: "a".repeat(40) };
const AT = "2026-03-04T05:06:07.000Z";
const sha1 = (bytes: Uint8Array): Uint8Array => createHash("sha1").update(bytes).digest();
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const draftOf = (view: View) => ({
  view,
  sessionId: SESSION,
  origin: ORIGIN,
  cwd: "/home/ada/Tide Pool",
  title: "Kelp",
  sha1,
  sha256,
});
const write = (view: View): string => writeGeminiSession(draftOf(view));
const linesOf = (text: string): readonly Json[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Json);
const messagesOf = (view: View): readonly Json[] =>
  linesOf(write(view))
    .slice(1)
    .map(({ id: _, timestamp: __, jpg: ___, ...message }) => message as Json);
const viewOf = (...events: readonly Event[]): View => ({ turns: [{ origin: { kind: "kept", turn: 0 }, events }] });
const event = (id: string, body: Json): Event => ({ id, timestamp: AT, ...body }) as unknown as Event;
const asked = (id: string, content: unknown, more: Json = {}): Event =>
  event(id, { type: "chat_request", content, ...more });
const read = (text: string) => readGeminiSession(createBufferSource(Buffer.from(text)));

const whole = (() => {
  const session = importGemini(variedGeminiSession());
  return projectTurns(turnsOf(session), session.compactions);
})();

describe("a view as a session of Gemini CLI", () => {
  it("begins with what describes it, and says where it comes from beside the first message", () => {
    const [first, second] = linesOf(write(viewOf(asked("r", "x"))));
    expect(first).toEqual({
      sessionId: SESSION,
      projectHash: sha256("/home/ada/Tide Pool"),
      startTime: AT,
      lastUpdated: AT,
      kind: "main",
      summary: "Kelp",
    });
    expect(second).toMatchObject({ id: lineUuid(SESSION, "r", sha1), jpg: { type: "jpg-origin", ...ORIGIN } });
    expect(read(write(viewOf(asked("r", "x")))).origin).toEqual(ORIGIN);
    expect(read(write(viewOf())).origin).toEqual(ORIGIN);
  });

  it("is known again in a copy that has another id", () => {
    const [first, ...rest] = linesOf(write(viewOf(asked("r", "x"))));
    const copy = [
      { ...first, sessionId: "11111111-2222-4333-8444-555555555555" },
      { id: "import-1", type: "info" },
      ...rest,
    ];
    const session = read(copy.map((line) => JSON.stringify(line)).join("\n"));
    expect([session.origin, session.exportedAs]).toEqual([ORIGIN, SESSION]);
    expect(session.hasLine(lineUuid(SESSION, "r", sha1))).toBe(true);
  });

  it("puts an answer into one message: thoughts, words, calls with their results", () => {
    const made = { provider: "google", model: "gemini-2.5-flash", message_id: "m" };
    const view = viewOf(
      asked("r", "Look."),
      event("t", { type: "chat_response", reasoning: "**Plan** Look.", metadata: made }),
      event("m", { type: "chat_response", message: "I look.", metadata: made }),
      event("c", { type: "tool_call_request", call_id: "k", name: "Read", arguments: { path: "a" }, metadata: made }),
      event("d", { type: "tool_call_request", call_id: "k", name: "Read", arguments: "b", metadata: made }),
      event("o", { type: "tool_call_response", call_id: "k", content: "kelp", is_error: false }),
      event("p", { type: "tool_call_response", call_id: "k", content: "no", is_error: true }),
    );
    const named = (id: string) => ({ id, name: "Read" });
    expect(messagesOf(view)).toEqual([
      { type: "user", content: [{ text: "Look." }] },
      {
        type: "gemini",
        content: "I look.",
        thoughts: [{ subject: "Plan", description: "Look.", timestamp: AT }],
        model: "gemini-2.5-flash",
        toolCalls: [
          {
            ...named("k"),
            args: { path: "a" },
            result: [{ functionResponse: { ...named("k"), response: { output: "kelp" } } }],
            status: "success",
            timestamp: AT,
          },
          {
            ...named("k_2"),
            args: { input: "b" },
            result: [{ functionResponse: { ...named("k_2"), response: { error: "no" } } }],
            status: "error",
            timestamp: AT,
          },
        ],
      },
    ]);
  });

  it("makes up the result that a call lacks as a message of its own, a further line of the answer", () => {
    const view = viewOf(
      asked("r", "x"),
      event("c", { type: "tool_call_request", call_id: "k", name: "Bash", arguments: {} }),
    );
    const [, , called, made] = linesOf(write(view));
    expect(called).toMatchObject({ id: lineUuid(SESSION, "c", sha1), toolCalls: [{ id: "k", status: "cancelled" }] });
    expect(made).toMatchObject({
      id: lineUuid(SESSION, lineName("c", 1), sha1),
      type: "user",
      content: [{ functionResponse: { id: "k", response: { error: expect.stringContaining("interrupted") } } }],
    });
    expect(outline(turnsOf(read(write(view)))[0]?.events ?? [])).toEqual([
      "user: x",
      "call k",
      expect.stringMatching(/^result k: \[Tool call interrupted/),
    ]);
  });

  it("loses no request that begins with a sign of the agent's own", () => {
    const texts = ["/etc/hosts looks odd", "  ? why", "<session_context> is what?", "<hook_context>x</hook_context>"];
    const view = viewOf(...texts.map((text, at) => asked(`r${at}`, text)), asked("s", "a/b?"));
    const messages = messagesOf(view);
    expect(messages.slice(0, 4)).toEqual(
      texts.map((text) => ({ type: "user", content: [{ text, thought: false }], displayContent: [{ text }] })),
    );
    expect(messages[4]).toEqual({ type: "user", content: [{ text: "a/b?" }] });
  });

  it("says what the harness of another agent said as a reminder, images as they are, and nothing empty", () => {
    const image = { type: "image", media_type: "image/png", data: "iVBORw0KGgo=" };
    const view = viewOf(
      asked("h", "The date changed.", { role: "system", metadata: { origin: "harness" } }),
      asked("i", [{ type: "text", text: "See" }, image]),
      asked("e", " "),
      event("m", { type: "chat_response", message: "" }),
      event("t", { type: "chat_response", reasoning: "hm", metadata: { provider: "anthropic", signature: "s" } }),
    );
    expect(messagesOf(view)).toEqual([
      { type: "user", content: [{ text: expect.stringContaining("The date changed.") }] },
      { type: "user", content: [{ text: "See" }, { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } }] },
    ]);
  });

  it("is the same bytes for the same view", () => {
    expect(write(whole)).toBe(write(whole));
  });
});

/** What an event says, without the names that a file gave it. */
function contentOf({ id: _, timestamp: __, metadata = {}, ...said }: Event): unknown {
  const { message_id: ___, ...more } = metadata;
  return { ...said, metadata: more };
}
const visible = (events: readonly Event[]): readonly unknown[] =>
  events.filter((one) => traitsOf(one).providerVisible).map(contentOf);

describe("what was exported and is imported again", () => {
  it("has equal events, turn by turn", () => {
    const again = turnsOf(read(write(whole))).flatMap(({ events }) => visible(events));
    expect(again).toEqual(whole.turns.flatMap(({ events }) => visible(events)));
  });

  it("has equal events of drawn sessions, whole", () => {
    fc.assert(
      fc.property(anySteps, (steps) => {
        const view = projectTurns(turnsOf(importGemini(writeSteps([...steps, { do: "ask" }]))), []);
        const again = read(write(view));
        expect(again.skippedLines).toEqual([]);
        expect(turnsOf(again).flatMap(({ events }) => visible(events))).toEqual(
          view.turns.flatMap(({ events }) => visible(events)),
        );
      }),
      { numRuns: runs(200) },
    );
  });
});

describe("Gemini CLI on a machine", () => {
  const HOME = "/home/ada";
  const CWD = "/home/ada/Tide Pool";
  const tmp = "/home/ada/.gemini/tmp";
  const machineWith = (files: Readonly<Record<string, string>>, env: Machine["env"] = {}): Machine => ({
    env,
    home: HOME,
    join,
    sha256: (text) => `sha-of-${text.length}`,
    readText: (path) => files[path] ?? null,
    namesIn: (path) => {
      const inside = Object.keys(files).flatMap((name) =>
        name.startsWith(`${path}/`) ? [name.slice(path.length + 1)] : [],
      );
      return [...new Set(inside.map((name) => name.split("/")[0] ?? ""))].sort();
    },
  });
  const hash = `sha-of-${CWD.length}`;
  const plan = (files: Readonly<Record<string, string>>, env?: Machine["env"]) =>
    GEMINI_CLI.resume?.(machineWith(files, env), draftOf(viewOf(asked("r", "x"))));
  const file = "chats/session-2026-03-04T05-06-6f1a2b3c.jsonl";
  const list = (projects: Json): Readonly<Record<string, string>> => ({
    "/home/ada/.gemini/projects.json": JSON.stringify({ projects }),
  });

  it("is given a session in the folder that it will make for the directory", () => {
    expect(plan({})).toMatchObject({ path: `${tmp}/tide-pool/${file}`, command: ["gemini", "--resume", SESSION] });
    expect(plan({})?.elsewhere).toBeUndefined();
    expect(plan({}, { GEMINI_CLI_HOME: "/srv" })?.path).toBe(`/srv/.gemini/tmp/tide-pool/${file}`);
    expect(plan(list({ "/other": "tide-pool", "/third": "tide-pool-1" }))?.path).toBe(`${tmp}/tide-pool-2/${file}`);
    expect(plan({ [`${tmp}/tide-pool/.project_root`]: "/other" })?.path).toBe(`${tmp}/tide-pool-1/${file}`);
  });

  it("is given it in the folder that it has for the directory", () => {
    expect(plan(list({ [CWD]: "pool" }))?.path).toBe(`${tmp}/pool/${file}`);
    expect(plan({ [`${tmp}/shore/.project_root`]: `${CWD}\n` })?.path).toBe(`${tmp}/shore/${file}`);
    const stale = { ...list({ [CWD]: "pool" }), [`${tmp}/pool/.project_root`]: "/other" };
    expect(plan(stale)?.path).toBe(`${tmp}/tide-pool/${file}`);
    const damaged = { ...list({ [CWD]: "pool", "/x": "No Slug" }) };
    expect(plan(damaged)?.path).toBe(`${tmp}/tide-pool/${file}`);
    expect(plan({ "/home/ada/.gemini/projects.json": "{" })?.path).toBe(`${tmp}/tide-pool/${file}`);
  });

  it("is given it in the folder of old times, all of which the agent takes to a new one", () => {
    expect(plan({ [`${tmp}/${hash}/chats/session-old.json`]: "" })).toMatchObject({
      path: `${tmp}/${hash}/${file}`,
      elsewhere: [`${tmp}/tide-pool/${file}`],
    });
  });

  it("keeps the sessions of a directory in its folder and in that of old times, those of sub-agents below", () => {
    const folders = GEMINI_CLI.files.folders?.(machineWith(list({ [CWD]: "pool" })), CWD) ?? [];
    expect(folders).toEqual([
      { path: `${tmp}/pool/chats`, levels: 1, directory: CWD },
      { path: `${tmp}/${hash}/chats`, levels: 1, directory: CWD },
    ]);
  });

  it("says of sessions in a folder that may be another's whose they are", () => {
    const [folder] = GEMINI_CLI.files.folders?.(machineWith({}), CWD) ?? [];
    const told = (text: string) => GEMINI_CLI.files.directory?.(createBufferSource(Buffer.from(text)), "tide-pool");
    expect(folder).toEqual({ path: `${tmp}/tide-pool/chats`, levels: 1, isOwn: true });
    expect(told(`{"sessionId":"x","projectHash":"${hash}"}`)).toEqual({ sha256: hash });
    expect(told(`{\n  "sessionId": "x",\n  "projectHash": "${hash}"`)).toEqual({ sha256: hash });
    expect(["", `{"projectHash":"other"}`, `{"text":"\\"projectHash\\":\\"x\\""}`].map(told)).toEqual([
      null,
      { sha256: "other" },
      null,
    ]);
  });
});
