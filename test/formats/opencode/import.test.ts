import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { JpgError } from "../../../src/core/errors.ts";
import { AGENTS } from "../../../src/formats/agents.ts";
import { exportAnthropic } from "../../../src/formats/anthropic/write.ts";
import {
  createOpenCodeWriter,
  OPENCODE_SESSION,
  openCodeCall,
  readOpenCode,
  sentLines,
  turnsOfSession,
  variedOpenCodeSession,
} from "../../helpers/opencode-session.ts";

type Json = Record<string, unknown>;

const formatOf = (text: string): string | undefined =>
  AGENTS.find((agent) => agent.detect(createBufferSource(Buffer.from(text))))?.name;

describe("a session of OpenCode", () => {
  it("is known by its description and messages, printed on one line or many", () => {
    const session = createOpenCodeWriter();
    session.user("map");
    expect(formatOf(session.bytes().toString())).toBe("opencode");
    expect(formatOf(JSON.stringify(JSON.parse(session.bytes().toString())))).toBe("opencode");
    expect(formatOf(JSON.stringify({ info: session.info, messages: [] }))).toBe("opencode");
    expect(formatOf('{"messages":[{"role":"user","content":"map"}]}')).toBe("anthropic");
    expect(formatOf('{"info":{"id":"x"},"messages":[{"role":"user"}]}')).toBe("anthropic");
  });

  it("is refused by name when it is none", () => {
    for (const text of ["", "[]", "{}", '{"info":{},"messages":[]}', '{"info":{"id":"ses_1"},"mess']) {
      const read = (): unknown => readOpenCode(text);
      expect(read).toThrow(JpgError);
      expect(read).toThrow(/not a session of OpenCode: expected one JSON document with `info` and `messages`/);
    }
  });

  it("says where and when it began, whose it is and what it is called", () => {
    const session = readOpenCode(variedOpenCodeSession(OPENCODE_SESSION));
    expect(session).toMatchObject({
      format: "opencode",
      sessionId: OPENCODE_SESSION,
      title: "map the beds",
      createdAt: "2026-01-02T10:00:00.000Z",
      cwd: "/home/me/kelp",
      skippedLines: [],
    });
    expect(session.titles.map(({ title }) => title)).toEqual(["Kelp beds"]);
    expect(session.readTurn(0)[1]).toMatchObject({ kind: "parent_session", data: { session: "ses_parent" } });
    const untitled = createOpenCodeWriter({ title: "New session - 2026-01-02T10:00:00.000Z" });
    untitled.user("map");
    expect(readOpenCode(untitled).titles).toEqual([]);
  });

  it("opens a turn with what the user typed, not with what was typed while the agent worked, or by the agent", () => {
    const session = createOpenCodeWriter();
    session.user("map the beds");
    session.say(openCodeCall("c1"));
    session.queue("also the reef");
    session.say("both");
    session.user({ type: "text", text: "Continue if you have next steps.", synthetic: true });
    session.say("none");
    session.user("thanks");
    const read = readOpenCode(session);
    expect(read.turnCount).toBe(2);
    expect(
      read.readTurn(0).flatMap((event) => (event.type === "chat_request" ? [event.metadata?.origin ?? "user"] : [])),
    ).toEqual(["user", "queued", "harness"]);
  });

  it("takes a prompt for a turn that followed an answer which was over, or stopped", () => {
    const over = createOpenCodeWriter();
    over.user("one");
    over.say("first");
    over.queue("two");
    expect(readOpenCode(over).turnCount).toBe(2);
    const stopped = createOpenCodeWriter();
    stopped.user("one");
    stopped.answer({ error: { name: "MessageAbortedError", data: { message: "" } } }, openCodeCall("c1"));
    stopped.queue("two");
    expect(readOpenCode(stopped).turnCount).toBe(2);
  });

  it("orders messages by time, then by id, and parts by id, as OpenCode does", () => {
    const session = createOpenCodeWriter();
    session.user("one");
    session.say("first", "second");
    session.user("two");
    session.messages[2]!.info["time"] = session.messages[0]!.info["time"];
    session.messages[1]!.parts.reverse();
    session.messages.reverse();
    expect(sentLines(readOpenCode(session))).toEqual([
      "user: one",
      "user: two",
      "assistant: first",
      "assistant: second",
    ]);
  });

  it("keeps the order of parts and tells messages apart where their ids were made unreadable", () => {
    const session = createOpenCodeWriter();
    session.user("one");
    session.say("first", openCodeCall("REDACTED"), openCodeCall("REDACTED", "sand"));
    session.say("last");
    for (const { info, parts } of session.messages) {
      info["id"] = "REDACTED";
      parts[0]!["id"] = "REDACTED";
    }
    const read = readOpenCode(session);
    const ids = turnsOfSession(read).flatMap(({ events }) => events.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
    expect(sentLines(read)).toEqual([
      "user: one",
      "assistant: first",
      "call REDACTED",
      "call REDACTED",
      "result REDACTED: kelp",
      "result REDACTED: sand",
      "assistant: last",
    ]);
  });

  it("leaves an answer that is still being written, and what was typed since, to the next import", () => {
    const session = createOpenCodeWriter();
    session.user("one");
    session.answer({ time: { created: Date.parse("2026-01-02T10:00:15Z") } }, "fir");
    session.user("two");
    const read = readOpenCode(session);
    expect(read.skippedLines).toEqual([
      { line: 2, reason: "an answer that is still being written" },
      { line: 3, reason: "typed while an answer was being written" },
    ]);
    expect(sentLines(read)).toEqual(["user: one"]);
    session.say("second");
    expect(readOpenCode(session).skippedLines).toEqual([]);
    expect(sentLines(readOpenCode(session))).toEqual(["user: one", "assistant: fir", "user: two", "assistant: second"]);
  });

  it("sends of an answer that was stopped what it holds, and nothing of one that failed", () => {
    const session = createOpenCodeWriter();
    session.user("one");
    session.answer({ error: { name: "APIError", data: { message: "overloaded" } } }, "never", openCodeCall("c1"));
    session.answer({ error: { name: "MessageAbortedError", data: { message: "" } } }, "half");
    const read = readOpenCode(session);
    expect(sentLines(read)).toEqual(["user: one", "assistant: half"]);
    expect(read.readTurn(0)[2]).toMatchObject({
      type: "note",
      kind: "failed_answer",
      data: { error: "APIError", message: "overloaded", text: "never", calls: ["bash"] },
    });
  });

  it("says of a call that never finished what OpenCode says, wherever it is", () => {
    const session = createOpenCodeWriter();
    session.user("one");
    session.say(
      "looking",
      openCodeCall("c1", null),
      openCodeCall("c2"),
      openCodeCall("c3", null, { status: "pending" }),
    );
    session.user("two");
    session.say("stopped");
    const read = readOpenCode(session);
    const { messages } = exportAnthropic(projectTurns(turnsOfSession(read), read.compactions));
    const results = (messages[2]?.content ?? []) as readonly Json[];
    expect(results.slice(0, 3).map((block) => [block["tool_use_id"], block["content"]])).toEqual([
      ["c2", "kelp"],
      ["c1", "[Tool execution was interrupted]"],
      ["c3", "[Tool execution was interrupted]"],
    ]);
  });

  it("splits an answer of several steps, each with the results of its own calls", () => {
    const session = createOpenCodeWriter();
    session.user("one");
    session.say({ type: "step-start" }, "a", openCodeCall("c1"), { type: "step-start" }, "b", openCodeCall("c2"));
    expect(sentLines(readOpenCode(session))).toEqual([
      "user: one",
      "assistant: a",
      "call c1",
      "result c1: kelp",
      "assistant: b",
      "call c2",
      "result c2: kelp",
    ]);
  });

  it("keeps who answered, what it cost, what its provider signed, and which session a tool began", () => {
    const session = createOpenCodeWriter();
    session.user("one");
    const metadata = { anthropic: { signature: "c2ln" } };
    session.say(
      { type: "reasoning", text: "hm", metadata, time: {} },
      openCodeCall("c1", "kelp", { metadata: { sessionId: "ses_child" } }),
    );
    const [, , thought, call, result] = readOpenCode(session).readTurn(0);
    expect(thought).toMatchObject({
      reasoning: "hm",
      metadata: {
        provider: "anthropic",
        model: "claude-sonnet-4-5",
        signature: "c2ln",
        provider_metadata: metadata,
        usage: { input: 3, output: 6, reasoning: 1, cacheRead: 7, cacheWrite: 11, cost: { total: 0.25 } },
      },
    });
    expect(call).toMatchObject({ call_id: "c1", name: "bash", arguments: { command: "ls c1" } });
    expect(call?.metadata?.usage).toBeUndefined();
    expect(result).toMatchObject({ content: "kelp", is_error: false, metadata: { session: "ses_child" } });
  });

  it("counts reasoning once, whether its version counted it in the output or beside it", () => {
    const tokens = { input: 10, output: 5, reasoning: 2, cache: { read: 0, write: 0 } };
    const outputOf = (total: number): unknown => {
      const session = createOpenCodeWriter();
      session.user("one");
      session.answer({ tokens: { ...tokens, total } }, "first");
      return (readOpenCode(session).readTurn(0)[2]!.metadata!.usage as Json)["output"];
    };
    expect([outputOf(15), outputOf(17)]).toEqual([5, 7]);
  });

  it("names messages and parts that are none", () => {
    const session = createOpenCodeWriter();
    session.user("one");
    const document = { info: session.info, messages: [...session.messages] as unknown[] };
    document.messages.push(7, {}, { info: { role: "tool" } }, { info: { role: "user" } });
    document.messages.push({ info: { role: "user" }, parts: [1, { text: "x" }, { type: "text", text: "two" }] });
    const read = readOpenCode(JSON.stringify(document));
    expect(read.skippedLines).toEqual([
      { line: 2, reason: "not an object" },
      { line: 3, reason: "no `info`" },
      { line: 4, reason: 'a message of role "tool"' },
      { line: 5, reason: "no `parts`" },
      { line: 6, reason: "a part without `type`" },
    ]);
    expect(sentLines(read)).toEqual(["user: one", "user: two"]);
  });

  it("carries parts of unknown kinds as notes, and files that it knows nothing of verbatim", () => {
    const session = createOpenCodeWriter();
    const sound = { type: "file", mime: "audio/wav", url: "data:audio/wav;base64,UklG", filename: "tide.wav" };
    session.user("listen", sound, { type: "tide", level: 3 }, { type: "file", mime: "text/plain", url: "file:///a" });
    const [, request, tide, file] = readOpenCode(session).readTurn(0);
    expect(request).toMatchObject({
      content: [
        { type: "text", text: "listen" },
        { type: "opaque", provider: "opencode", value: sound },
      ],
    });
    expect([tide, file]).toMatchObject([
      { type: "note", kind: "tide", data: { level: 3 } },
      { type: "note", kind: "file", data: { mime: "text/plain" } },
    ]);
  });
});

describe("what the user took back", () => {
  it("is a branch that was left, until OpenCode forgets it", () => {
    const session = createOpenCodeWriter();
    session.user("one");
    session.say("first");
    const second = session.user("two");
    session.say("second");
    session.info["revert"] = { messageID: second };
    const read = readOpenCode(session);
    expect(sentLines(read)).toEqual(["user: one", "assistant: first"]);
    expect(read.abandoned).toHaveLength(1);
    expect(read.abandoned[0]).toMatchObject({ commonTurns: 1, turnCount: 2 });
    expect(read.abandoned[0]!.readTurn(1)).toMatchObject([{}, { content: "two" }, { message: "second" }]);
    expect(read.hasLine(second)).toBe(true);
  });

  it("may begin inside an answer", () => {
    const session = createOpenCodeWriter();
    session.user("one");
    const answer = session.say("first", openCodeCall("c1"), "second");
    session.say("third");
    session.info["revert"] = { messageID: answer, partID: session.messages[1]!.parts[1]!["id"] };
    const read = readOpenCode(session);
    expect(sentLines(read)).toEqual(["user: one", "assistant: first"]);
    expect(read.abandoned[0]).toMatchObject({ commonTurns: 0, turnCount: 1 });
  });

  it("is nothing when the session holds no such message", () => {
    const session = createOpenCodeWriter({ revert: { messageID: "msg_gone" } });
    session.user("one");
    expect(readOpenCode(session).abandoned).toEqual([]);
  });
});
