// Sessions of Gemini CLI as conversations: messages, the agent's own words, lists that replace the messages, going back, documents.
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { GEMINI_CLI, readGeminiSession } from "../../../src/formats/gemini-cli/agent.ts";
import type { ImportedSession } from "../../../src/formats/imported-session.ts";
import {
  answer,
  call,
  documentBytes,
  GEMINI_SESSION,
  header,
  importGemini,
  info,
  type Json,
  list,
  outline,
  prompt,
  response,
  result,
  SURROUNDINGS,
  sessionBytes,
  timeOf,
  touched,
  turnsOf,
  variedGeminiSession,
  wentBack,
} from "../../helpers/gemini-session.ts";

const active = (session: Pick<ImportedSession, "turnCount" | "readTurn">) =>
  turnsOf(session).map(({ events }) => outline(events));
const shown = (session: ImportedSession) =>
  projectTurns(turnsOf(session), session.compactions).turns.map(({ events }) => outline(events));
const source = (bytes: Buffer | string) => createBufferSource(Buffer.from(bytes));
const summary = (text: string): Json => prompt("s", `<state_snapshot>${text}</state_snapshot>`);

describe("a session of Gemini CLI", () => {
  it("is read message by message: thoughts, words, calls with their results, tokens", () => {
    const thoughts = [{ subject: "Plan", description: "Look." }, { description: "No subject." }];
    const said = answer("a", "I look.", { thoughts, tokens: { total: 7 } });
    const session = importGemini([
      header(),
      list(SURROUNDINGS),
      prompt("u", "Which kelp?"),
      said,
      { ...said, toolCalls: [call("k", "bull kelp")] },
      result("r", "k", "bull kelp"),
      answer("b", "Bull kelp."),
    ]);
    expect(active(session)).toEqual([
      [
        "user: Which kelp?",
        "thought: **Plan** Look.",
        "thought: No subject.",
        "answer: I look.",
        "note usage",
        "call k",
        "result k: bull kelp",
        "answer: Bull kelp.",
      ],
    ]);
    expect(session.readTurn(0)[5]).toMatchObject({
      id: "a.usage",
      metadata: { provider: "google", model: "gemini-2.5-flash", message_id: "a", usage: { total: 7 } },
    });
    expect(session).toMatchObject({
      sessionId: GEMINI_SESSION,
      title: "Which kelp?",
      cwd: "/home/ada/tidepool",
      createdAt: timeOf(0),
      compactions: [],
      skippedLines: [],
    });
  });

  it("takes a result from the user's message where it stands nowhere else, and images with their result", () => {
    const image = { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } };
    const session = importGemini([
      header(),
      prompt("u", "Look."),
      { ...answer("a", ""), toolCalls: [call("k"), { ...call("l"), result: [response("l", "seen"), image] }] },
      { id: "r", type: "user", content: [response("k", "late"), response("l", "seen"), image] },
    ]);
    expect(active(session)[0]).toEqual(["user: Look.", "call k", "call l", "result l: seen|image", "result k: late"]);
  });

  it("says whose words a request is, and opens turns with the user's only", () => {
    const session = importGemini([
      header(),
      prompt("i", "Here is the user's editor context as a JSON object. {}"),
      prompt("u", "One"),
      answer("a", "1"),
      prompt("x", "I ran the following shell command:\n```sh\nls\n```"),
      prompt("c", "Please continue."),
      answer("b", "2"),
      {
        id: "r",
        type: "user",
        content: [response("k", "x"), { text: "User steering update:\n<user_input>\nfaster\n</user_input>" }],
      },
      prompt("v", "Two"),
      prompt("h", "<hook_context>late</hook_context>"),
    ]);
    expect(active(session).map((lines) => lines.map((line) => line.split(/[:\n]/)[0]))).toEqual([
      ["harness", "user", "answer", "harness", "harness", "answer", "result k", "queued"],
      ["user"],
    ]);
    expect(turnsOf(session)[0]?.events[1]).toMatchObject({ id: "i", metadata: { origin: "harness" } });
  });

  it("keeps what only the display shows, and what it does not know, as notes; jpg's own line is none", () => {
    const session = importGemini([
      header(),
      prompt("u", "One"),
      info("i", "Update available!"),
      { id: "e", type: "error", content: "x".repeat(300) },
      { id: "n", type: "telepathy", content: [{ text: "?" }] },
      { type: "strange", value: 1 },
      { $set: { memoryScratchpad: {}, limit: 3 } },
      { type: "jpg-origin", format: 1 },
      touched(9),
    ]);
    const notes = session.readTurn(0).filter(({ type }) => type === "note");
    expect(notes.map((note) => ("kind" in note ? note.kind : ""))).toEqual([
      "info",
      "error",
      "telepathy",
      "strange",
      "session_data",
    ]);
    expect(notes[0]).toMatchObject({ id: "i", data: { content: "Update available!" } });
    expect(JSON.stringify(notes[1]).length).toBeLessThan(400);
  });

  it("says that it is a sub-agent's", () => {
    const session = importGemini([header({ kind: "subagent", directories: ["/home/ada/reef"] }), prompt("u", "One")]);
    expect(active(session)).toEqual([["note subagent_session", "user: One"]]);
    expect(session.cwd).toBe("/home/ada/reef");
  });

  it("gives later titles, and names bad lines", () => {
    const session = importGemini([
      header(),
      prompt("u", "One"),
      { $set: { summary: "Kelp" } },
      "{cut",
      "[]",
      { $set: { summary: "Kelp" } },
      { $set: { summary: "Rock weed", lastUpdated: timeOf(9) } },
    ]);
    expect(session.titles.map(({ title, timestamp }) => [title, timestamp])).toEqual([
      ["Kelp", timeOf(1)],
      ["Rock weed", timeOf(9)],
    ]);
    expect(session.skippedLines).toEqual([
      { line: 4, reason: "not JSON: cut off before its end" },
      { line: 5, reason: "not a JSON object" },
    ]);
  });
});

describe("a list that replaces the messages", () => {
  const turns = [prompt("u1", "One"), answer("a1", "1"), prompt("u2", "Two"), answer("a2", "2")];

  it("is a compaction where it says something else: what it says, and what stays", () => {
    const tail = [prompt("c1", "Two"), answer("c2", "2")];
    const session = importGemini([
      header(),
      ...turns,
      list(SURROUNDINGS, summary("1"), answer("g", "Got it."), ...tail),
    ]);
    expect(session.compactions).toMatchObject([
      { from_turn: 0, to_turn: 1, to_event: "a2", keep: ["u2", "a2"], source: "import" },
    ]);
    expect(session.compactions[0]).not.toHaveProperty("from_event");
    expect(shown(session)).toEqual([
      ["summary: <state_snapshot>1</state_snapshot>", "answer: Got it."],
      ["user: Two", "answer: 2"],
    ]);
    expect(session.turnCount).toBe(2);
  });

  it("covers from the first message that changed on: an output that was masked", () => {
    const called = { ...answer("a2", ""), toolCalls: [call("k", "long")] };
    const again = [
      SURROUNDINGS,
      prompt("z1", "One"),
      answer("z2", "1"),
      prompt("z3", "Two"),
      {
        id: "z4",
        type: "gemini",
        content: [{ functionCall: { id: "k", name: "read_file", args: { file_path: "k.md" } } }],
      },
      { id: "z5", type: "user", content: [response("k", "masked")] },
      prompt("z6", "Three"),
    ].map(({ model: _, ...message }: Json) => message as Json);
    const session = importGemini([
      header(),
      ...turns.slice(0, 3),
      called,
      prompt("u3", "Three"),
      ...again,
      list(...again),
    ]);
    expect(active(session)).toHaveLength(3);
    expect(session.compactions).toMatchObject([{ from_turn: 1, from_event: "a2.c0", to_turn: 2, keep: ["u3"] }]);
    expect(shown(session).flat()).toEqual([
      "user: One",
      "answer: 1",
      "user: Two",
      "call k",
      "result k: masked",
      "user: Three",
    ]);
  });

  it("changes nothing where it says the same in the words of a session that is opened again", () => {
    const called = {
      ...answer("a2", "", { thoughts: [{ subject: "S", description: "d" }] }),
      toolCalls: [call("k", "out")],
    };
    const before = [header(), list(SURROUNDINGS), ...turns.slice(0, 3), called];
    const opened = [
      header(),
      list(SURROUNDINGS),
      { $set: { sessionId: GEMINI_SESSION } },
      list(
        SURROUNDINGS,
        ...turns.slice(0, 3),
        {
          ...called,
          content: [
            { text: "**S** d", thought: true },
            { functionCall: { id: "k", name: "read_file", args: { file_path: "k.md" } } },
          ],
        },
        { id: "a2_response", type: "user", content: [response("k", "out")] },
      ),
    ];
    const [earlier, later] = [importGemini(before), importGemini([...before, ...opened, prompt("u3", "Three")])];
    expect(later.compactions).toEqual([]);
    expect(later.abandoned).toEqual([]);
    expect(turnsOf(later).slice(0, -1)).toEqual(turnsOf(earlier));
    expect(active(later).at(-1)).toEqual(["user: Three"]);
  });

  it("went back where it ends earlier: what was asked and broken off is a branch that was left", () => {
    const session = importGemini([header(), ...turns, list(SURROUNDINGS, ...turns.slice(0, 2)), prompt("u3", "Three")]);
    expect(active(session)).toEqual([["user: One", "answer: 1"], ["user: Three"]]);
    expect(session.abandoned).toMatchObject([{ commonTurns: 1, turnCount: 2 }]);
    expect(session.compactions).toEqual([]);
  });

  it("tells what no message of its own told", () => {
    const session = importGemini([header(), list(SURROUNDINGS, ...turns), prompt("u3", "Three")]);
    expect(active(session)).toEqual([["user: One", "answer: 1"], ["user: Two", "answer: 2"], ["user: Three"]]);
  });
});

describe("going back", () => {
  const turns = [prompt("u1", "One"), answer("a1", "1"), prompt("u2", "Two"), answer("a2", "2")];

  it("leaves what came from a message on as a branch", () => {
    const session = importGemini([header(), ...turns, wentBack("u2"), prompt("u3", "Three")]);
    expect(active(session)).toEqual([["user: One", "answer: 1"], ["user: Three"]]);
    expect(session.abandoned.map(active)).toEqual([
      [
        ["user: One", "answer: 1"],
        ["user: Two", "answer: 2"],
      ],
    ]);
    expect(session.abandoned[0]?.name).toMatch(/^left-[0-9a-z]{8}$/);
  });

  it("behind a compaction shortens it", () => {
    const kept = [prompt("c1", "Two"), answer("c2", "2")];
    const session = importGemini([
      header(),
      ...turns,
      list(SURROUNDINGS, summary("1"), ...kept),
      wentBack("c1"),
      prompt("u3", "Three"),
    ]);
    expect(session.compactions).toMatchObject([{ from_turn: 0, to_turn: 0, to_event: "a1" }]);
    expect(shown(session)).toEqual([["summary: <state_snapshot>1</state_snapshot>"], ["user: Three"]]);
  });

  it("to a message that is not there hides everything, as the agent does, and keeps it", () => {
    const session = importGemini([header(), ...turns, wentBack("lost"), prompt("u3", "Three")]);
    expect(session.compactions).toMatchObject([{ turns: "omit", reason: "unknown-message", to_event: "a2" }]);
    expect(shown(session)).toEqual([["user: Three"]]);
    expect(active(session)).toHaveLength(3);
  });
});

describe("a session that is one document", () => {
  const messages = [prompt("u1", "One"), answer("a1", "1", { tokens: { total: 1 } }), info("i1", "shown")];

  it("is read like lines, and told apart from them", () => {
    const bytes = documentBytes(messages, { summary: "Numbers" });
    const session = readGeminiSession(source(bytes));
    expect(active(session)).toEqual([["user: One", "answer: 1", "note usage", "note info"]]);
    expect(session.titles).toMatchObject([{ title: "Numbers" }]);
    expect(GEMINI_CLI.files.document?.(source(bytes))).toBe("json");
    expect(GEMINI_CLI.files.document?.(source(JSON.stringify(JSON.parse(String(bytes)))))).toBe("json");
    expect(GEMINI_CLI.files.document?.(source(sessionBytes([header(), ...messages])))).toBeNull();
    expect(GEMINI_CLI.files.document?.(source(sessionBytes([header()])))).toBeNull();
  });

  it("has the events of the lines that the agent makes of it", () => {
    const dated = messages.map((one, at) => ({ ...one, timestamp: timeOf(at + 1) }));
    const lines = importGemini([header(), ...dated]);
    expect(turnsOf(lines)).toEqual(turnsOf(readGeminiSession(source(documentBytes(messages)))));
  });

  it("names messages that are none", () => {
    const session = readGeminiSession(source(documentBytes([prompt("u", "One"), 7 as unknown as Json])));
    expect(session.turnCount).toBe(1);
  });
});

describe("what is a session of Gemini CLI", () => {
  const isOne = (text: string) => GEMINI_CLI.detect(source(text));

  it("is told by what describes it", () => {
    expect(isOne(sessionBytes(variedGeminiSession()).toString())).toBe(true);
    expect(isOne(`{cut\n${JSON.stringify(header())}\n`)).toBe(true);
    for (const text of [
      "",
      "{}",
      "[1]",
      '{"sessionId":"x"}',
      '{"projectHash":1,"sessionId":"x"}',
      '"projectHash" "sessionId"',
    ])
      expect(isOne(text)).toBe(false);
    expect(() => readGeminiSession(source('{"sessionId":"x"}\n'))).toThrow("The file is not a session of Gemini CLI");
  });

  it("has an id that can stand in names", () => {
    const idOf = (sessionId: string) => GEMINI_CLI.sessionId(source(sessionBytes([header({ sessionId })])));
    expect(idOf(GEMINI_SESSION)).toBe(GEMINI_SESSION);
    expect(idOf("../x")).toMatch(/^session-[0-9a-z]{13}$/);
    expect(GEMINI_CLI.sessionId(source("{}"))).toBeNull();
  });
});
