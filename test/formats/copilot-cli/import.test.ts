// @module-tag law
// Sessions of Copilot CLI: what is said in them, whose words it is, and what holds of every file.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { JpgError } from "../../../src/core/errors.ts";
import { checkOpenAiResponses } from "../../../src/core/model/openai-responses-rules.ts";
import { toOpenAiResponsesThread } from "../../../src/core/model/openai-responses-thread.ts";
import { copilotSessionId, isCopilotSession, readCopilotSession } from "../../../src/formats/copilot-cli/agent.ts";
import { outline, turnsOf } from "../../helpers/codex-session.ts";
import {
  begun,
  COPILOT_SESSION,
  type CopilotLine,
  copilotBytes,
  done,
  framed,
  noticed,
  readCopilot,
  said,
  typed,
} from "../../helpers/copilot-session.ts";
import { mutatedCopilotSession } from "../../helpers/mutated-session.ts";
import { runs } from "../../helpers/runs.ts";

const source = (bytes: string | Buffer) => createBufferSource(Buffer.from(bytes));

describe("a session of Copilot CLI", () => {
  it("becomes turns: what was typed, what went with it, answers, calls and what came of them", () => {
    const session = readCopilot([
      begun({ selectedModel: "gpt-5-mini" }),
      ["system.message", { role: "system", content: "You are Copilot." }],
      typed(
        "Which kelp grows here?",
        "<current_datetime>noon</current_datetime>\n\nWhich kelp grows here?\n\n<reminder>r</reminder>",
      ),
      ["assistant.turn_start", { turnId: "0" }],
      said("", ["c1"], {
        reasoningText: "I look.",
        reasoningOpaque: "sealed",
        model: "claude-sonnet-4.6",
        outputTokens: 12,
      }),
      ["tool.execution_start", { toolCallId: "c1", toolName: "bash" }],
      done("c1"),
      ["assistant.turn_end", { turnId: "0" }],
      said("Bull kelp."),
      typed("And in winter?"),
      said("None.", [], { model: "gpt-5-mini" }),
    ]);
    expect(session).toMatchObject({
      format: "copilot-cli",
      sessionId: COPILOT_SESSION,
      cwd: "/home/ada/tidepool",
      title: "Which kelp grows here?",
      createdAt: "2026-01-02T03:00:00.000Z",
      skippedLines: [],
    });
    const turns = turnsOf(session);
    expect(turns.map(({ events }) => outline(events).slice(1))).toMatchInlineSnapshot(`
      [
        [
          "note session.start",
          "note system.message",
          "harness: <current_datetime>noon</current_datetime>

      ",
          "user: Which kelp grows here?",
          "harness: 

      <reminder>r</reminder>",
          "reasoning: I look.",
          "call c1",
          "output c1",
          "answer: Bull kelp.",
        ],
        [
          "user: And in winter?",
          "answer: None.",
        ],
      ]
    `);
    const answer = turns[0]!.events.find(({ type }) => type === "chat_response");
    expect(answer).toEqual({
      type: "chat_response",
      id: "e4",
      timestamp: "2026-01-02T03:04:00.000Z",
      reasoning: "I look.",
      metadata: {
        provider: "github-copilot",
        model: "claude-sonnet-4.6",
        message_id: "e4",
        signature: "sealed",
        usage: { outputTokens: 12 },
      },
    });
  });

  it("belongs to the turn that goes on where it was typed while a call ran, and opens one behind a stop", () => {
    const stopped = readCopilot([begun(), typed("One"), said("", ["c1"]), typed("Wait"), done("c1"), said("Yes")]);
    expect(stopped.turnCount).toBe(1);
    expect(stopped.readTurn(0).find(({ id }) => id === "e3")?.metadata).toEqual({ origin: "queued" });
    const aborted = readCopilot([begun(), typed("One"), said("", ["c1"]), ["abort", { reason: "user" }], typed("Two")]);
    expect(aborted.turnCount).toBe(2);
    expect(aborted.readTurn(1).map(({ type }) => type)).toEqual(["turn_start", "chat_request"]);
  });

  it("says what failed, what the agent sent by itself, and keeps what no model sees as notes", () => {
    const session = readCopilot([
      begun(),
      typed("Go"),
      said("", ["c1", "c2"]),
      ["tool.execution_complete", { toolCallId: "c1", success: false, error: { message: "no such shell" } }],
      done("c2"),
      done("c2", "again"),
      noticed("shell 3 has ended"),
      ["session.truncation", { tokenLimit: 8000, messagesRemovedDuringTruncation: 4 }],
      said("a sub-agent's words", ["s1"], { parentToolCallId: "c2" }),
      [
        "tool.execution_complete",
        { toolCallId: "s1", success: true, parentToolCallId: "c2", result: { content: "x" } },
      ],
      ["something.new", { level: 3, long: "x".repeat(300), deep: { a: 1 } }],
    ]);
    const events = session.readTurn(0).slice(2);
    expect(events.filter(({ type }) => type === "tool_call_response")).toMatchObject([
      { call_id: "c1", is_error: true, content: "no such shell" },
      { call_id: "c2", is_error: false, content: "kelp.md" },
    ]);
    expect(events.find(({ id }) => id === "e6")).toMatchObject({
      content: "shell 3 has ended",
      metadata: { origin: "harness" },
    });
    const notes = events.flatMap((event) => (event.type === "note" ? [[event.kind, event.data]] : []));
    expect(notes).toEqual([
      ["tool.execution_complete", { toolCallId: "c2", success: true }],
      ["session.truncation", { tokenLimit: 8000, messagesRemovedDuringTruncation: 4 }],
      ["something.new", { level: 3, long: `${"x".repeat(200)}…` }],
    ]);
  });

  it("is told from other sessions by its lines, named by its first, and refused with what is wrong", () => {
    const bytes = copilotBytes([begun(), typed("Go")]);
    expect(isCopilotSession(source(bytes))).toBe(true);
    expect(copilotSessionId(source(bytes))).toBe(COPILOT_SESSION);
    const other = source('{"type":"user","message":{"role":"user","content":"x"},"uuid":"1","parentUuid":null}\n');
    expect(isCopilotSession(other)).toBe(false);
    expect(() => readCopilotSession(other)).toThrow(/not a session of Copilot CLI.*line 1 is no object in `data`/);
  });

  it("names each line that it cannot read, and dates what is not dated as the line before", () => {
    const [start, ask] = framed([begun(), typed("Go")]);
    const text = `${JSON.stringify(start)}\n{"type":1}\nnot json\n${JSON.stringify({ ...ask, timestamp: "late", id: "e0" })}\n`;
    const session = readCopilotSession(source(text));
    expect(session.skippedLines).toEqual([
      { line: 2, reason: "no `type`" },
      { line: 3, reason: "not JSON" },
    ]);
    expect(session.readTurn(0).at(-1)).toMatchObject({
      id: `3-${COPILOT_SESSION}`,
      timestamp: "2026-01-02T03:00:00.000Z",
      content: "Go",
    });
  });
});

const line: fc.Arbitrary<CopilotLine> = fc.oneof(
  fc.constantFrom("One", "Two").map((text) => typed(text, `<t/>${text}`)),
  fc.subarray(["c1", "c2", "c3"]).map((calls) => said("a", calls)),
  fc.constantFrom("c1", "c2", "c3").map((id) => done(id)),
  fc.constantFrom<CopilotLine>(noticed("n"), ["abort", {}], ["session.info", {}], ["hook.start", {}]),
);
const many = fc.array(line, { maxLength: 25 });

describe("every session of Copilot CLI", () => {
  it("only adds to the newest turn when lines are appended, and cuts the file into pieces in order", () => {
    fc.assert(
      fc.property(many, many, (first, more) => {
        const [turns, grown] = [
          [begun(), ...first],
          [begun(), ...first, ...more],
        ].map((lines) => turnsOf(readCopilot(lines)));
        expect(grown!.slice(0, Math.max(0, turns!.length - 1))).toEqual(turns!.slice(0, -1));
        const newest = turns!.at(-1)?.events ?? [];
        expect(grown![turns!.length - 1]?.events.slice(0, newest.length) ?? []).toEqual(newest);
        const later = readCopilot([begun(), ...first, ...more]);
        const starts = grown!.map(({ index }) => later.turnLine(index));
        expect(starts).toEqual([...new Set(starts)].sort((a, b) => a - b));
        expect(starts[0] ?? 0).toBe(0);
      }),
      { numRuns: runs(150) },
    );
  });

  it("has an id for each event, and calls and outputs as the provider takes them", () => {
    fc.assert(
      fc.property(many, (lines) => {
        const turns = turnsOf(readCopilot([begun(), ...lines]));
        const ids = turns.flatMap(({ events }) => events.map(({ id }) => id));
        expect(new Set(ids).size).toBe(ids.length);
        const { items } = toOpenAiResponsesThread(projectTurns(turns, []), {});
        const broken = checkOpenAiResponses(items.map(({ item }) => item)).filter(
          ({ severity, message }) => severity === "error" && message !== "The list is empty.",
        );
        expect(broken).toEqual([]);
      }),
      { numRuns: runs(150) },
    );
  });

  it("is read whatever is wrong with it, the same at every reading, or refused as no session", () => {
    fc.assert(
      fc.property(mutatedCopilotSession, (text) => {
        const read = () => turnsOf(readCopilotSession(source(text)));
        try {
          expect(read()).toEqual(read());
        } catch (error) {
          if (!(error instanceof JpgError) || error.code !== "not_a_session") throw error;
        }
      }),
      { numRuns: runs(150) },
    );
  });
});
