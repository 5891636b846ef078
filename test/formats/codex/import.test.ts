// Lines of a rollout as events: whose words a message is, what introduces a request, what one answer is, what is no event.
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { readUsage } from "../../../src/core/model/usage.ts";
import { readCodexSession } from "../../../src/formats/codex/agent.ts";
import { codexSessionId, isCodexSession } from "../../../src/formats/codex/rollout-line.ts";
import {
  answer,
  CODEX_SESSION,
  type CodexLine,
  call,
  complete,
  counted,
  developer,
  ENVIRONMENT,
  importRollout,
  item,
  message,
  meta,
  model,
  outline,
  output,
  prompt,
  reasoning,
  rolloutBytes,
  saidIn,
  started,
  timeOf,
  turnsOf,
} from "../../helpers/codex-session.ts";

const source = (text: string) => createBufferSource(Buffer.from(text));

describe("a rollout", () => {
  it("becomes turns, each with what introduced its request", () => {
    const session = importRollout([
      meta(),
      started("t1"),
      developer("<permissions instructions>all</permissions instructions>"),
      prompt("# AGENTS.md instructions for /home/ada\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>", ENVIRONMENT),
      model("gpt-5.5"),
      prompt("Which kelp grows here?"),
      reasoning("enc1", "I should look."),
      call("c1"),
      output("c1"),
      answer("Bull kelp."),
      complete("t1"),
      started("t2"),
      developer("<model_switch>new</model_switch>"),
      prompt("And in winter?"),
      answer("None."),
    ]);
    expect(session).toMatchObject({
      sessionId: CODEX_SESSION,
      cwd: "/home/ada/tidepool",
      title: "Which kelp grows here?",
      createdAt: timeOf(0),
      skippedLines: [],
    });
    expect(turnsOf(session).map(({ events }) => outline(events).slice(1))).toEqual([
      [
        "note session_meta",
        "harness: <permissions instructions>all</permissions instructions>",
        `harness: # AGENTS.md instructions for /home/ada\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>|${ENVIRONMENT}`,
        "user: Which kelp grows here?",
        "reasoning: I should look.",
        "call c1",
        "output c1",
        "answer: Bull kelp.",
      ],
      ["harness: <model_switch>new</model_switch>", "user: And in winter?", "answer: None."],
    ]);
    expect([session.turnLine(0), session.turnLine(1), session.turnTime(1)]).toEqual([0, 13, timeOf(13)]);
  });

  it("keeps what introduces a request back until the request is there, and what tells of a turn in that turn", () => {
    const lines = [meta(), prompt("One"), answer("a"), prompt("<turn_aborted>\nstopped\n</turn_aborted>")];
    expect(outline(saidIn(importRollout(lines), 0))).toEqual([
      "user: One",
      "answer: a",
      "harness: <turn_aborted>\nstopped\n</turn_aborted>",
    ]);
    const introduced = [...lines, prompt(ENVIRONMENT)];
    expect(turnsOf(importRollout(introduced))).toEqual(turnsOf(importRollout(lines)));
    const whole = importRollout([...introduced, prompt("Two")]);
    expect(whole.readTurn(0)).toEqual(importRollout(lines).readTurn(0));
    expect(outline(saidIn(whole, 1))).toEqual([`harness: ${ENVIRONMENT}`, "user: Two"]);
  });

  it.each([
    '<codex_internal_context source="user_goal">\nGo on.\n</codex_internal_context>',
    "<goal_context>Go on.</goal_context>",
    '<hook_prompt hook_run_id="stop:0:x">Run the tests.</hook_prompt>',
    "<agent_message_board_notification>1 new</agent_message_board_notification>",
    "<subagent_notification>{}</subagent_notification>",
  ])("takes words for the agent's own that Codex put in by itself: %j", (text) => {
    const session = importRollout([meta(), started("t"), prompt("One"), answer("re One"), prompt(text), answer("on")]);
    expect(outline(saidIn(session, 0))).toEqual(["user: One", "answer: re One", `harness: ${text}`, "answer: on"]);
  });

  it("takes what a program added to a request for words before that request", () => {
    const added = "<external_ticket>\nK-3\n</external_ticket>";
    const session = importRollout([meta(), prompt("One"), answer("re One"), prompt(added), prompt("Two")]);
    expect(outline(saidIn(session, 1))).toEqual([`harness: ${added}`, "user: Two"]);
    const shown = '<external_ticket id="3">K-3</external_ticket>';
    expect(outline(saidIn(importRollout([meta(), prompt(shown)]), 0))).toEqual([`user: ${shown}`]);
  });

  it("reads what another agent said from a line of its own, as Codex sends it", () => {
    const said = (more: Readonly<Record<string, unknown>>): CodexLine => ({
      type: "inter_agent_communication",
      payload: { author: "/root/bob", recipient: "/root", other_recipients: [], ...more },
    });
    const session = importRollout([
      meta(),
      prompt("One"),
      said({ content: "The tide is out.", trigger_turn: false }),
      said({ content: "", encrypted_content: "gAAA", trigger_turn: true }),
    ]);
    const ends = { author: "/root/bob", recipient: "/root" };
    const head = "Message Type: NEW_TASK\nTask name: /root\nSender: /root/bob\nPayload:\n";
    const contents = [
      [{ type: "input_text", text: "The tide is out." }],
      [
        { type: "input_text", text: head },
        { type: "encrypted_content", encrypted_content: "gAAA" },
      ],
    ];
    expect(saidIn(session, 0).slice(1)).toMatchObject(
      contents.map((content) => ({
        type: "chat_request",
        content: [{ type: "opaque", provider: "openai", value: { type: "agent_message", ...ends, content } }],
        metadata: { origin: "harness" },
      })),
    );
  });

  it("takes words for the user's that only mention what the agent says", () => {
    const session = importRollout([meta(), prompt("What does <environment_context> mean?"), prompt("<kelp>x</kelp>")]);
    expect([outline(saidIn(session, 0)), outline(saidIn(session, 1))]).toEqual([
      ["user: What does <environment_context> mean?"],
      ["user: <kelp>x</kelp>"],
    ]);
  });

  it("takes a prompt that was typed while the agent worked into the turn", () => {
    const session = importRollout([
      meta(),
      started("t1"),
      prompt("One"),
      call("c1"),
      prompt("faster"),
      output("c1"),
      complete("t1"),
      started("t2"),
      prompt("Two"),
    ]);
    expect(session.turnCount).toBe(2);
    expect(outline(saidIn(session, 0))).toEqual(["user: One", "call c1", "queued: faster", "output c1"]);
  });

  it("reads every kind of item", () => {
    const opaque = { type: "web_search_call", status: "completed", action: { type: "search", query: "kelp" } };
    const session = importRollout([
      meta({ model_provider: "azure" }),
      model("gpt-5.5"),
      item({
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "See" },
          { type: "input_image", image_url: "data:image/png;base64,AAAA" },
          { type: "input_image", image_url: "https://example.invalid/a.png" },
          { type: "input_image", file_id: "file_1" },
        ],
      }),
      item({ type: "local_shell_call", call_id: "c1", status: "completed", action: { type: "exec", command: ["ls"] } }),
      item({ type: "function_call_output", call_id: "c1", output: { content: "no", success: false } }),
      item({ type: "custom_tool_call", call_id: "c2", name: "apply_patch", input: "*** Begin Patch" }),
      item({ type: "custom_tool_call_output", call_id: "c2", output: [{ type: "input_text", text: "done" }] }),
      item({ type: "function_call", call_id: "c3", name: "q", namespace: "mcp", arguments: "no json" }),
      item(opaque),
      item({ type: "ghost_snapshot", ghost_commit: { id: "x" } }),
      message({ type: "turn_aborted", reason: "interrupted" }),
      { type: "invented", payload: { tide: 3 } },
    ]);
    const made = { provider: "azure", model: "gpt-5.5" };
    expect(
      session
        .readTurn(0)
        .slice(2)
        .map(({ id: _, timestamp: __, ...event }) => event),
    ).toEqual([
      {
        type: "chat_request",
        content: [
          { type: "text", text: "See" },
          { type: "image", media_type: "image/png", data: "AAAA" },
          { type: "image", url: "https://example.invalid/a.png" },
          { type: "opaque", provider: "openai", value: { type: "input_image", file_id: "file_1" } },
        ],
      },
      {
        type: "tool_call_request",
        call_id: "c1",
        name: "local_shell",
        arguments: { type: "exec", command: ["ls"] },
        metadata: { ...made, message_id: `3-${CODEX_SESSION}`, call_type: "local_shell", unanswered: "aborted" },
      },
      { type: "tool_call_response", call_id: "c1", content: "no", is_error: true },
      {
        type: "tool_call_request",
        call_id: "c2",
        name: "apply_patch",
        arguments: { input: "*** Begin Patch" },
        metadata: { ...made, message_id: `5-${CODEX_SESSION}`, call_type: "custom", unanswered: "aborted" },
      },
      { type: "tool_call_response", call_id: "c2", content: "done", is_error: false },
      {
        type: "tool_call_request",
        call_id: "c3",
        name: "q",
        arguments: "no json",
        metadata: {
          ...made,
          message_id: `7-${CODEX_SESSION}`,
          unanswered: "aborted",
          item: { namespace: "mcp", arguments: "no json" },
        },
      },
      {
        type: "chat_response",
        message: [{ type: "opaque", provider: "openai", value: opaque }],
        metadata: { ...made, message_id: `7-${CODEX_SESSION}` },
      },
      { type: "note", kind: "ghost_snapshot" },
      { type: "note", kind: "turn_aborted", data: { reason: "interrupted" } },
      { type: "note", kind: "invented", data: { tide: 3 } },
    ]);
  });

  it.each([
    ["Exit code: 2\nWall time: 1 s\nOutput:\nx", true],
    ["Chunk ID: 1\nProcess exited with code 0\nOutput:\nProcess exited with code 1", false],
    ["Process exited with code 1\nOutput:\n", true],
    ['{"output":"no","metadata":{"exit_code":1}}', true],
    ['{"output":"yes","metadata":{"exit_code":0}}', false],
    ["Exit code: 2 is what I expect", false],
  ])("tells from %j whether a command failed", (text, failed) => {
    const session = importRollout([meta(), prompt("x"), call("c"), output("c", text)]);
    expect(saidIn(session, 0).at(-1)).toMatchObject({ is_error: failed });
  });

  it("notes what the provider counted once for each answer, with the answer's id", () => {
    const session = importRollout([
      meta(),
      prompt("One"),
      counted(100),
      call("c1"),
      output("c1"),
      counted(200, 100),
      counted(200, 100),
      answer("a"),
      counted(330, 130),
      counted(999, 0),
    ]);
    const notes = session.readTurn(0).filter((event) => event.type === "note" && event.kind === "usage");
    expect(notes.map(({ metadata }) => [metadata?.message_id, readUsage(metadata?.usage)?.input])).toEqual([
      [`3-${CODEX_SESSION}`, 90],
      [`7-${CODEX_SESSION}`, 120],
    ]);
  });

  it("takes titles from the agent, and the first words from behind what an editor shows", () => {
    const name = (thread_name: string) =>
      message({ type: "thread_name_updated", thread_id: CODEX_SESSION, thread_name });
    const session = importRollout([
      meta(),
      prompt(
        "# Context from my IDE setup:\n\n## Open tabs:\n- kelp.md\n\n## My request for Codex:\nFix the tide table",
      ),
      name("Tide table"),
      name("Tide table"),
      name("  "),
    ]);
    expect(session.title).toBe("Fix the tide table");
    expect(session.titles.map(({ title, timestamp }) => [title, timestamp])).toEqual([["Tide table", timeOf(2)]]);
  });

  it("is called after what was typed with an image, not after the image's name", () => {
    const image = { type: "input_image", image_url: "data:image/png;base64,AAAA" };
    const text = (words: string) => ({ type: "input_text", text: words });
    const content = [text('<image name=[Image #1] path="/tmp/a.png">'), image, text("</image>"), text("Which tide?")];
    expect(importRollout([meta(), item({ type: "message", role: "user", content })]).title).toBe("Which tide?");
  });

  it("describes itself by its first description, also where another session's is copied in", () => {
    const session = importRollout([
      meta({
        forked_from_id: "parent",
        source: { subagent: { thread_spawn: { parent_thread_id: "parent", depth: 1 } } },
      }),
      meta({ id: "parent", cwd: "/home/bob", model_provider: "azure" }),
      prompt("copied"),
      answer("a"),
    ]);
    expect(session).toMatchObject({ sessionId: CODEX_SESSION, cwd: "/home/ada/tidepool" });
    expect(session.readTurn(0)[1]).toMatchObject({
      kind: "session_meta",
      data: { id: CODEX_SESSION, forked_from_id: "parent", parent_thread_id: "parent", depth: 1 },
    });
    expect(session.readTurn(0).at(-1)?.metadata?.provider).toBe("openai");
  });

  it("reads files of before September 2025", () => {
    const lines = [
      { id: CODEX_SESSION, timestamp: timeOf(0), instructions: null, git: { branch: "main" } },
      { record_type: "state" },
      { type: "message", role: "user", content: [{ type: "input_text", text: "Which kelp?" }] },
      { type: "reasoning", summary: [], encrypted_content: "enc" },
      { type: "function_call", name: "shell", arguments: '{"command":["ls"]}', call_id: "c1" },
      { type: "function_call_output", call_id: "c1", output: '{"output":"x","metadata":{"exit_code":0}}' },
    ];
    const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const session = readCodexSession(createBufferSource(bytes));
    expect(isCodexSession(createBufferSource(bytes))).toBe(true);
    expect(session).toMatchObject({ sessionId: CODEX_SESSION, createdAt: timeOf(0), skippedLines: [] });
    expect(outline(saidIn(session, 0))).toEqual(["user: Which kelp?", "reasoning: ", "call c1", "output c1"]);
    expect(new Set(session.readTurn(0).map(({ timestamp }) => timestamp))).toEqual(new Set([timeOf(0)]));
  });
});

describe("a damaged rollout", () => {
  it("names every line that it leaves out", () => {
    const deep = `{"type":"event_msg","payload":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}`;
    const session = importRollout([
      meta(),
      prompt("One"),
      "",
      "no json",
      "[1]",
      '{"a":1}',
      '{"type":"response_item","payload":7}',
      deep,
      '{"timestamp":"2026-01-02T03:04:05Z","type":"response_item","payload":{"type":"mess',
    ]);
    expect(session.skippedLines).toEqual([
      { line: 4, reason: "not JSON" },
      { line: 5, reason: "not a JSON object" },
      { line: 6, reason: "no `type`" },
      { line: 7, reason: "no object in `payload`" },
      { line: 8, reason: "nested deeper than 500 levels" },
      { line: 9, reason: "not JSON: cut off before its end" },
    ]);
    expect(outline(saidIn(session, 0))).toEqual(["user: One"]);
  });

  it("gives each event an id of its own, whatever ids stand in it twice", () => {
    const twice = { ...answer("a"), jpg: "6f1a2b3c-0000-4000-8000-00000000abcd" };
    const session = importRollout([
      meta(),
      prompt("One"),
      twice,
      twice,
      call("c"),
      call("c"),
      output("c"),
      output("c"),
    ]);
    const ids = session.readTurn(0).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(session.hasLine("6f1a2b3c-0000-4000-8000-00000000abcd")).toBe(true);
  });

  it("reads a line of 20 MB whole", () => {
    const text = "k".repeat(20_000_000);
    const [event] = saidIn(importRollout([meta(), prompt(text)]), 0);
    expect(event).toMatchObject({ content: text });
  });

  it("has no turn while nobody has asked anything", () => {
    expect(importRollout([meta(), developer("x"), prompt(ENVIRONMENT)]).turnCount).toBe(0);
  });

  it.each([
    ["of Claude Code", '{"type":"user","uuid":"a","parentUuid":null,"message":{"content":"x"}}'],
    ["of pi", '{"type":"message","id":"a","timestamp":"2026-01-02T03:04:05Z","message":{"role":"user","content":"x"}}'],
    ["without frames", '{"type":"event_msg","timestamp":"2026-01-02T03:04:05Z"}'],
    ["of items alone", '{"type":"message","role":"user","content":"x"}'],
    ["of something with a time", '{"id":"a","timestamp":"2026-01-02T03:04:05Z"}'],
    ["empty", ""],
  ])("is none: a file %s", (_, text) => {
    expect(isCodexSession(source(text))).toBe(false);
    expect(() => readCodexSession(source(text))).toThrow(/is not a Codex session: expected JSON lines/);
  });

  it("is called after its first line where it names no session", () => {
    const lines = [prompt("One"), answer("a")];
    expect(codexSessionId(createBufferSource(rolloutBytes(lines)))).toBe(null);
    expect(importRollout(lines).sessionId).toMatch(/^session-[0-9a-z]{13}$/);
    expect(importRollout([...lines, prompt("Two")]).sessionId).toBe(importRollout(lines).sessionId);
  });
});
