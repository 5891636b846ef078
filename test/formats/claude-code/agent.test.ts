import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { exportAnthropic } from "../../../src/formats/anthropic/write.ts";
import {
  claudeSessionId,
  isClaudeSession,
  readClaudeSession,
  typicalClaudeOverhead,
} from "../../../src/formats/claude-code/agent.ts";
import { allTurns, createClaudeWriter, importLines, type Json, sessionBytes } from "../../helpers/claude-session.ts";

function eventsOf(lines: readonly (Json | string)[]): readonly Event[] {
  return allTurns(importLines(lines)).flatMap((turn) => turn.events);
}

function texts(events: readonly Event[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type === "chat_request") return [String(event.content)];
    return event.type === "chat_response" && event.message !== undefined ? [String(event.message)] : [];
  });
}

function requestOf(events: readonly Event[], text: string): Event {
  return events.find((event) => event.type === "chat_request" && event.content === text)!;
}

describe("readClaudeSession", () => {
  it("opens a turn at each request and names its events after the lines", () => {
    const writer = createClaudeWriter();
    const first = writer.prompt("sort the harbours");
    writer.think("by name?", "Sorted by name.");
    const second = writer.prompt("now by depth");
    const session = importLines(writer.lines);
    expect(session.turnCount).toBe(2);
    expect(session.title).toBe("sort the harbours");
    expect(session.cwd).toBe("/home/sam/tidepool");
    expect(session.readTurn(1).map((event) => event.id)).toEqual([`${second}.turn`, second]);
    expect(session.readTurn(0)[0]).toEqual({ type: "turn_start", id: `${first}.turn`, timestamp: session.createdAt });
    const [, , thought, said] = session.readTurn(0);
    expect(thought).toMatchObject({
      reasoning: "by name?",
      metadata: { provider: "anthropic", signature: expect.any(String) },
    });
    expect(said?.metadata?.message_id).toBe(thought?.metadata?.message_id);
    expect(said?.metadata?.usage).toBeUndefined();
  });

  it("keeps text of the harness in the turn it stands in, and before the first request in the first turn", () => {
    const writer = createClaudeWriter();
    writer.prompt("<local-command-caveat>not for you</local-command-caveat>", { isMeta: true });
    writer.prompt("<command-name>/clear</command-name>");
    writer.prompt("<local-command-stdout></local-command-stdout>");
    writer.prompt("count the tides");
    writer.say("Two a day.");
    writer.prompt("<command-name>/model</command-name>");
    writer.prompt("[Request interrupted by user]");
    writer.prompt("go on");
    const session = importLines(writer.lines);
    expect(session.turnCount).toBe(2);
    expect(session.title).toBe("count the tides");
    expect(session.turnLine(0)).toBe(0);
    const harness = session.readTurn(0).filter((event) => event.metadata?.origin === "harness");
    expect(harness).toHaveLength(5);
    expect(texts(session.readTurn(1))).toEqual(["go on"]);
  });

  it("opens a turn at a command that the model answers", () => {
    const writer = createClaudeWriter();
    writer.prompt("hello");
    writer.say("Hello.");
    const goal = writer.prompt("<command-name>/goal</command-name><command-args>tidy up</command-args>");
    writer.prompt("<local-command-stdout>Goal set</local-command-stdout>");
    writer.say("On it.");
    const session = importLines(writer.lines);
    expect(session.turnCount).toBe(2);
    expect(session.readTurn(1)[1]).toMatchObject({ id: goal, type: "chat_request" });
    expect(session.readTurn(1)[1]).not.toHaveProperty("metadata");
  });

  it("takes a prompt typed meanwhile into the running turn as the user's words, and a task's notice as the harness's", () => {
    const writer = createClaudeWriter();
    writer.prompt("build it");
    writer.tools(1);
    writer.queue("skip the docs");
    writer.node({
      type: "attachment",
      attachment: { type: "queued_command", prompt: "<task-notification/>", commandMode: "task-notification" },
    });
    writer.say("Done.");
    const session = importLines(writer.lines);
    expect(session.turnCount).toBe(1);
    const events = session.readTurn(0);
    expect(requestOf(events, "skip the docs").metadata).toEqual({ origin: "queued" });
    expect(requestOf(events, "<task-notification/>")).toMatchObject({
      role: "system",
      metadata: { origin: "harness" },
    });
  });

  it("keeps an attachment's own fields so that the same line can be written again", () => {
    const attachment = { type: "edited_text_file", filename: "/home/sam/tidepool/a.ts", snippet: "1\tlet a" };
    const writer = createClaudeWriter();
    writer.prompt("look");
    writer.node({ type: "attachment", attachment, rendered: [{ content: "a.ts changed" }], renderedRole: "system" });
    writer.node({
      type: "attachment",
      attachment: { type: "hook_success", hookName: "Stop", stdout: "x".repeat(5000) },
    });
    writer.say("Seen.");
    const events = eventsOf(writer.lines);
    expect(requestOf(events, "a.ts changed").metadata).toEqual({
      origin: "harness",
      attachment,
      rendered: [{ content: "a.ts changed" }],
      renderedRole: "system",
    });
    const note = events.find((event) => event.type === "note");
    expect(note).toMatchObject({ kind: "hook_success", data: { hookName: "Stop" } });
    expect(JSON.stringify(note).length).toBeLessThan(700);
  });

  it("joins parallel calls written between results into one message, results after it in file order", () => {
    const writer = createClaudeWriter();
    writer.prompt("do both");
    const call = (id: string): Json => ({
      type: "assistant",
      message: {
        id: "msg_one",
        role: "assistant",
        model: "claude-sonnet-4-5",
        content: [{ type: "tool_use", id, name: "Read", input: {} }],
      },
    });
    const result = (id: string, at: string): Json => ({
      type: "user",
      sourceToolAssistantUUID: at,
      message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: id }] },
    });
    const one = writer.node(call("call_1"));
    writer.node(result("call_1", one), { parent: one });
    const two = writer.node(call("call_2"), { parent: one });
    writer.node(result("call_2", two), { parent: two });
    writer.say("Both done.");
    const session = importLines(writer.lines);
    const events = session.readTurn(0);
    const kinds = events.map((event) =>
      "call_id" in event ? `${event.type === "tool_call_request" ? "T" : "R"}:${event.call_id}` : event.type,
    );
    expect(kinds.slice(2, 6)).toEqual(["T:call_1", "T:call_2", "R:call_1", "R:call_2"]);
    expect(session.abandoned).toEqual([]);
  });

  it("does not send what a sub-agent wrote into the same file", () => {
    const writer = createClaudeWriter();
    writer.prompt("ask a helper");
    const head = writer.head;
    writer.node(
      { type: "user", isSidechain: true, message: { role: "user", content: "helper: search" } },
      { parent: null },
    );
    writer.node({
      type: "assistant",
      isSidechain: true,
      message: { role: "assistant", content: [{ type: "text", text: "found" }] },
    });
    writer.head = head;
    writer.say("The helper found it.");
    const session = importLines(writer.lines);
    expect(texts(session.readTurn(0))).toEqual(["ask a helper", "The helper found it."]);
    expect(session.abandoned).toEqual([]);
  });

  it("leaves API errors and microcompactions as notes", () => {
    const writer = createClaudeWriter();
    writer.prompt("hello");
    writer.node({
      type: "assistant",
      isApiErrorMessage: true,
      message: { role: "assistant", model: "<synthetic>", content: [{ type: "text", text: "API Error: 529" }] },
    });
    writer.node({
      type: "system",
      subtype: "microcompact_boundary",
      microcompactMetadata: { compactedToolIds: ["a"], tokensSaved: 10 },
    });
    writer.say("Hello.");
    const notes = eventsOf(writer.lines).filter((event) => event.type === "note");
    expect(notes).toMatchObject([
      { kind: "api_error", data: { text: "API Error: 529" } },
      { kind: "microcompact_boundary" },
    ]);
  });

  it("keeps encrypted reasoning, images, documents and unknown blocks", () => {
    const writer = createClaudeWriter();
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } };
    const pdf = { type: "document", title: "chart", source: { type: "url", url: "https://example.invalid/chart.pdf" } };
    writer.node({ type: "user", message: { role: "user", content: [{ type: "text", text: "see" }, image, pdf] } });
    writer.node({
      type: "assistant",
      message: {
        id: "m",
        role: "assistant",
        content: [
          { type: "redacted_thinking", data: "c2Vj" },
          { type: "server_tool_use", id: "s" },
        ],
      },
    });
    const [, request, reasoning, other] = eventsOf(writer.lines);
    expect(request).toMatchObject({
      content: [
        { type: "text", text: "see" },
        { type: "image", media_type: "image/png", data: "aGk=" },
        { type: "document", url: "https://example.invalid/chart.pdf", title: "chart" },
      ],
    });
    expect(reasoning).toMatchObject({ reasoning: "", metadata: { encrypted: "c2Vj", message_id: "m" } });
    expect(other).toMatchObject({
      message: [{ type: "opaque", provider: "anthropic", value: { type: "server_tool_use", id: "s" } }],
    });
  });

  it("names a branch that the user left, with the turns it shares", () => {
    const writer = createClaudeWriter();
    writer.prompt("one");
    const answer = writer.say("1");
    writer.prompt("two");
    writer.say("2");
    writer.rewind(answer);
    writer.prompt("three");
    writer.say("3");
    const session = importLines(writer.lines);
    expect(texts(eventsOf(writer.lines))).toEqual(["one", "1", "three", "3"]);
    const [left] = session.abandoned;
    expect(session.abandoned).toHaveLength(1);
    expect(left?.name).toMatch(/^left-[a-z0-9]+$/);
    expect([left?.commonTurns, left?.turnCount]).toEqual([1, 2]);
    expect(left?.readTurn(0)).toEqual(session.readTurn(0));
    expect(texts(left?.readTurn(1) ?? [])).toEqual(["two", "2"]);
  });

  it("follows the newest last-prompt to the end of its branch", () => {
    const writer = createClaudeWriter();
    const start = writer.prompt("one");
    const kept = writer.say("kept");
    writer.head = start;
    writer.say("later in the file");
    writer.side({ type: "last-prompt", leafUuid: start });
    writer.side({ type: "last-prompt", leafUuid: kept });
    expect(texts(eventsOf(writer.lines))).toEqual(["one", "kept"]);
  });

  it("counts the last of lines with one uuid, and cuts the file at the first", () => {
    const writer = createClaudeWriter();
    writer.prompt("one");
    writer.say("1");
    writer.prompt("two");
    const repeated = structuredClone(writer.lines[2]!);
    repeated["message"] = { role: "user", content: "two, corrected" };
    const session = importLines([...writer.lines, repeated]);
    expect(texts(session.readTurn(1))).toEqual(["two, corrected"]);
    expect(session.turnLine(1)).toBe(2);
  });

  it("reads titles given later, each once, and leaves out those of other sessions", () => {
    const writer = createClaudeWriter();
    const first = writer.prompt("one");
    writer.side({ type: "summary", summary: "Another session", leafUuid: "not-here" });
    writer.side({ type: "summary", summary: "Tides", leafUuid: first });
    writer.side({ type: "ai-title", aiTitle: "Count tides" });
    writer.side({ type: "ai-title", aiTitle: "Count tides" });
    writer.side({ type: "custom-title", customTitle: "My  tides\n" });
    expect(importLines(writer.lines).titles.map((title) => title.title)).toEqual(["Tides", "Count tides", "My tides"]);
  });

  it("names the conversation, branch and commit that jpg exported the file from", () => {
    const writer = createClaudeWriter();
    writer.prompt("one");
    const origin = { conversation: "tides-k3f9", branch: "tides-k3f9/main", commit: "a".repeat(40) };
    const session = importLines([{ type: "jpg-origin", format: 1, ...origin, sessionId: "s" }, ...writer.lines]);
    expect(session.origin).toEqual(origin);
  });

  it("finds the session's id without reading on, and derives one where it is no name", () => {
    const named = createBufferSource(
      sessionBytes([
        { type: "mode", mode: "x" },
        { type: "user", uuid: "u", sessionId: "abc-1" },
      ]),
    );
    expect(claudeSessionId(named)).toBe("abc-1");
    expect(readClaudeSession(named).sessionId).toBe("abc-1");
    const odd = createBufferSource(
      sessionBytes([{ type: "user", uuid: "u", parentUuid: null, sessionId: "../../etc" }]),
    );
    expect(claudeSessionId(odd)).toMatch(/^session-[0-9a-z]{13}$/);
    const nameless = createBufferSource(
      sessionBytes([{ type: "user", uuid: "u", parentUuid: null, message: { content: "hi" } }]),
    );
    expect(claudeSessionId(nameless)).toBeNull();
    expect(readClaudeSession(nameless).sessionId).toMatch(/^session-[0-9a-z]{13}$/);
  });

  it("refuses a file that is no session, naming what it found", () => {
    expect(() => importLines(["not json at all"])).toThrowError(
      expect.objectContaining({ code: "not_a_session", kind: "user" }),
    );
    expect(() => importLines([{ type: "session_meta", payload: {} }])).toThrowError(/no line of one was found/);
    expect(() => importLines([])).toThrowError(expect.objectContaining({ code: "not_a_session" }));
  });
});

describe("readClaudeSession, damaged files", () => {
  it("reads past a byte order mark, at the start and where files were put together", () => {
    const lines = createClaudeWriter();
    for (const text of ["first", "second"]) lines.prompt(text);
    const marked = lines.lines.map((line) => `\ufeff${JSON.stringify(line)}`);
    expect(eventsOf(marked)).toEqual(eventsOf(lines.lines));
    expect(importLines(marked).skippedLines).toEqual([]);
  });

  it("takes an empty id for none", () => {
    const writer = createClaudeWriter();
    writer.prompt("first");
    writer.node({ type: "user", message: { role: "user", content: "nameless" } });
    writer.say("answer");
    const lines = writer.lines.map((line, at) => (at === 1 ? { ...line, uuid: "", parentUuid: "" } : line));
    const events = eventsOf(lines);
    expect(events.map(({ id }) => id)).not.toContain("");
    expect(events.filter(({ type }) => type === "note")).toMatchObject([{ kind: "user", data: { text: "nameless" } }]);
  });

  it.each([501, 2500, 100_000])("names a line that nests %i levels deep, and reads the rest", (levels) => {
    const writer = createClaudeWriter();
    for (const text of ["first", "second"]) writer.prompt(text);
    const deep = `{"type":"user","uuid":"deep","input":${"[".repeat(levels)}${"]".repeat(levels)}}`;
    const session = importLines([writer.lines[0]!, deep, writer.lines[1]!]);
    expect(session.skippedLines).toEqual([{ line: 2, reason: "nested deeper than 500 levels" }]);
    expect(texts(allTurns(session).flatMap((turn) => turn.events))).toEqual(["first", "second"]);
  });

  it("reads a message of 200,000 parts", { tags: ["slow"] }, () => {
    const writer = createClaudeWriter();
    const parts = Array.from({ length: 200_000 }, (_, at) => ({ type: "text", text: `part ${at}` }));
    writer.node({ type: "user", message: { role: "user", content: parts } });
    const [request] = eventsOf(writer.lines).filter(({ type }) => type === "chat_request");
    expect(request).toMatchObject({ content: { length: 200_000 } });
    const view = projectTurns(allTurns(importLines(writer.lines)), []);
    expect(exportAnthropic(view).messages).toMatchObject([{ role: "user", content: { length: 200_000 } }]);
  });

  it.each([".git", ".GIT", ".gitmodules", "..", ".", "../x", "a/b", ""])("gives no folder the session id %j", (id) => {
    const line = { type: "user", uuid: "u", sessionId: id, message: { role: "user", content: "hello" } };
    expect(importLines([line]).sessionId).toMatch(/^session-[0-9a-z]{13}$/);
  });

  it("lists lines it cannot read by number and reason, and reads the rest", () => {
    const writer = createClaudeWriter();
    writer.prompt("one");
    writer.say("1");
    const [prompt, answer] = writer.lines;
    const session = importLines([prompt!, "{ cut of", "\0\0\0\0", "[1]", "{}", "", answer!]);
    expect(session.skippedLines.map(({ line }) => line)).toEqual([2, 3, 4, 5]);
    expect(session.skippedLines.map(({ reason }) => reason).slice(1)).toEqual([
      "NUL bytes",
      "not a JSON object",
      "no `type`",
    ]);
    expect(texts(session.readTurn(0))).toEqual(["one", "1"]);
  });

  it("reads invalid UTF-8 as replacement characters and a line of 10 MB whole", () => {
    const writer = createClaudeWriter();
    writer.prompt("?");
    writer.say("x".repeat(10_000_000));
    const bytes = sessionBytes(writer.lines);
    bytes[bytes.indexOf('"content":"?"') + '"content":"'.length] = 0xff;
    const session = readClaudeSession(createBufferSource(bytes));
    expect(texts(session.readTurn(0)).map((text) => text.length)).toEqual([1, 10_000_000]);
    expect(texts(session.readTurn(0))[0]).toBe("\uFFFD");
  });

  it("tolerates messages without content, links in a ring and lines without dates", () => {
    const session = importLines([
      { type: "user", uuid: "a", parentUuid: "b", sessionId: "s", message: { content: "one" } },
      { type: "assistant", uuid: "b", parentUuid: "a", sessionId: "s", message: {} },
      { type: "user", uuid: "c", parentUuid: "b", sessionId: "s", timestamp: "yesterday", message: { content: "two" } },
    ]);
    expect(texts(allTurns(session).flatMap((turn) => turn.events))).toEqual(["one", "two"]);
    expect(session.createdAt).toBe("1970-01-01T00:00:00.000Z");
  });

  it("hides what lies before a missing parent, and can show it again", () => {
    const writer = createClaudeWriter();
    writer.prompt("lost");
    writer.say("gone");
    const found = writer.node({ type: "user", message: { role: "user", content: "found" } }, { parent: "missing" });
    writer.lines.at(-1)!["timestamp"] = "2026-03-01T09:01:00.000Z";
    const session = importLines(writer.lines);
    expect(session.compactions).toMatchObject([
      { turns: "omit", reason: "broken-parent", source: "import", to_turn: 0 },
    ]);
    const view = projectTurns(allTurns(session), session.compactions);
    expect(view.turns.flatMap((turn) => turn.events).map((event) => event.id)).toEqual([`${found}.turn`, found]);
    expect(texts(eventsOf(writer.lines))).toEqual(["lost", "gone", "found"]);
  });

  it("waits for the parent of a result that was written before its call", () => {
    const writer = createClaudeWriter();
    writer.prompt("go");
    const result = {
      type: "user",
      message: { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "ok" }] },
    };
    writer.node(result, { parent: "not-written-yet" });
    expect(importLines(writer.lines).compactions).toEqual([]);
  });
});

const detect = (...lines: (Json | string)[]): boolean => isClaudeSession(createBufferSource(sessionBytes(lines)));

describe("isClaudeSession", () => {
  it("knows a session by its messages, behind side lines and damaged ones", () => {
    const writer = createClaudeWriter();
    writer.prompt("hello");
    expect(detect("{ damaged", { type: "unheard-of" }, ...writer.lines)).toBe(true);
  });

  it.each([
    { type: "summary", summary: "Tides", leafUuid: "x" },
    { type: "file-history-snapshot", messageId: "m", snapshot: {} },
    { type: "permission-mode", permissionMode: "default", sessionId: "s" },
  ])("knows a session by a side line of type $type", (line) => {
    expect(detect(line)).toBe(true);
  });

  it.each([
    [{ type: "session_meta", payload: { id: "x" }, timestamp: "2026-03-01T09:00:00Z" }],
    [{ type: "session", version: 3, id: "x" }],
    [{ type: "session.start", data: {}, id: "x", parentId: null }],
    [{ type: "user", content: "hello" }],
    [{ messages: [] }],
  ])("does not take another format for one: %j", (line) => {
    expect(detect(line)).toBe(false);
  });

  it("says no to an empty file and looks no further than the first lines", () => {
    expect(detect()).toBe(false);
    const writer = createClaudeWriter();
    writer.prompt("late");
    expect(detect(...Array.from({ length: 60 }, () => ({ type: "x" })), ...writer.lines)).toBe(false);
  });
});

describe("typicalClaudeOverhead", () => {
  it.each([
    ['{"version":"2.1.17"}', 31_000],
    ['{"version": "2.0.76"}', 31_000],
    ['{"version":"2.1.99"}', 31_000],
    ['{"version":"2.1.100"}', 20_000],
    ['{"version":"3.0.0"}', 20_000],
    ['{"version":"[trimmed]"}', null],
    ["", null],
  ])("of %s is %s", (line, tokens) => {
    expect(typicalClaudeOverhead(line)).toBe(tokens);
  });
});
