// @module-tag law
// Sessions of Cline: messages as Anthropic's blocks, files that were added, counts of tokens, and what stands for a compaction.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { JpgError } from "../../../src/core/errors.ts";
import { readUsage } from "../../../src/core/model/usage.ts";
import { CLINE, readClineSession } from "../../../src/formats/cline/agent.ts";
import type { Json } from "../../helpers/claude-session.ts";
import { outline, turnsOf } from "../../helpers/codex-session.ts";
import { runs } from "../../helpers/runs.ts";

const SESSION = "1784000000000_kelpy";
const source = (text: string) => createBufferSource(Buffer.from(text));
const documentOf = (messages: readonly unknown[], more: Json = {}): string =>
  JSON.stringify(
    { version: 1, agent: "lead", sessionId: SESSION, messages, system_prompt: "You are Cline.", ...more },
    null,
    "\t",
  );
const read = (messages: readonly unknown[], more?: Json) => readClineSession(source(documentOf(messages, more)));

const text = (words: string): Json => ({ type: "text", text: words });
const user = (id: string, ...content: readonly Json[]): Json => ({ id, role: "user", content, ts: 1_783_376_868_634 });
const answer = (id: string, ...content: readonly Json[]): Json => ({
  id,
  role: "assistant",
  content,
  ts: 1_783_376_873_493,
  modelInfo: { id: "anthropic/claude-opus-4.8-fast", provider: "cline", family: "claude-opus" },
  metrics: { inputTokens: 900, outputTokens: 40, cacheReadTokens: 600, cacheWriteTokens: 100, cost: 0.25 },
});
const call = (id: string): Json => ({ type: "tool_use", id, name: "read_files", input: { path: "kelp.md" } });
const result = (id: string): Json => ({
  type: "tool_result",
  tool_use_id: id,
  name: "read_files",
  content: "bull kelp",
});

const TALK: readonly Json[] = [
  user("msg_1", text("Which kelp grows here?"), { type: "file", path: "/home/ada/kelp.md", content: "bull\n" }),
  answer("msg_2", text("I look."), call("c1")),
  user("msg_3_tool_c1_tool_c1", result("c1")),
  answer("msg_4", text("Bull kelp.")),
  user("msg_5", text("And in winter?")),
  answer("msg_6", text("None.")),
];

describe("a session of Cline", () => {
  it("becomes turns, with files that the user added, and what was counted", () => {
    const session = read(TALK);
    expect(session).toMatchObject({
      format: "cline",
      sessionId: SESSION,
      title: "Which kelp grows here?",
      skippedLines: [],
    });
    expect(turnsOf(session).map(({ events }) => outline(events).slice(1))).toEqual([
      [expect.stringContaining("user: "), "answer: I look.", "call c1", "output c1", "answer: Bull kelp."],
      ["user: And in winter?", "answer: None."],
    ]);
    expect(session.readTurn(0)[1]).toMatchObject({
      content: [text("Which kelp grows here?"), { type: "attachment", name: "/home/ada/kelp.md", text: "bull\n" }],
    });
    const said = session.readTurn(0)[2]!;
    expect(said).toMatchObject({ id: "msg_2", timestamp: "2026-07-06T22:27:53.493Z", metadata: { provider: "cline" } });
    expect(readUsage(said.metadata?.usage)).toEqual({ input: 200, cacheRead: 600, cacheWrite: 100, output: 40 });
  });

  it("knows a result's message again although its id grows with each save", () => {
    const ids = (id: string) => turnsOf(read(TALK.with(2, user(id, result("c1")))))[0]!.events.map((event) => event.id);
    expect(ids("msg_3_tool_c1")).toEqual(ids("msg_3_tool_c1_tool_c1_tool_c1"));
  });

  it("names what is sent since a compaction as a session of its own, Cline's summaries as its own words", () => {
    const notice = "<SYSTEM_NOTICE>\nEarlier context was compacted.\n</SYSTEM_NOTICE>";
    const first = { ...user("msg_1", text("Which kelp grows here?"), text(notice)), metadata: { kind: "compaction" } };
    const session = read([first, ...TALK.slice(3)]);
    expect(session.sessionId).toBe(`${SESSION}-compacted`);
    expect(outline(session.readTurn(0)).slice(1)).toEqual([
      "user: Which kelp grows here?",
      `harness: ${notice}`,
      "answer: Bull kelp.",
    ]);
  });

  it("is told from other documents, and refused with what was expected", () => {
    const other = '{"messages":[{"role":"user","content":"x"}]}';
    expect([documentOf(TALK), other, "{", "", "[]"].map((each) => CLINE.detect(source(each)))).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
    expect(CLINE.sessionId(source(documentOf(TALK)))).toBe(SESSION);
    expect(() => readClineSession(source(other))).toThrow(
      /expected one JSON object with `version`, `sessionId` and `messages`/,
    );
  });

  it("names each message that says nothing", () => {
    expect(
      read([...TALK, 7, user("msg_7"), { role: "tool", content: "x" }]).skippedLines.map(({ line }) => line),
    ).toEqual([7, 8, 9]);
  });
});

describe("every session of Cline", () => {
  it("only adds when messages are appended, and has an id for each event", () => {
    const message = fc.constantFrom(...TALK, user("msg_1", text("again")), answer("msg_2", text("again")), 7);
    fc.assert(
      fc.property(fc.array(message), fc.array(message), (first, more) => {
        const [turns, grown] = [turnsOf(read(first)), turnsOf(read([...first, ...more]))];
        expect(grown.slice(0, Math.max(0, turns.length - 1))).toEqual(turns.slice(0, -1));
        const newest = turns.at(-1)?.events ?? [];
        expect(grown[turns.length - 1]?.events.slice(0, newest.length) ?? []).toEqual(newest);
        const ids = grown.flatMap(({ events }) => events.map(({ id }) => id));
        expect(new Set(ids).size).toBe(ids.length);
      }),
      { numRuns: runs(150) },
    );
  });

  it("is read whatever stands in its messages, the same at every reading, or refused", () => {
    const any = fc.array(
      fc.oneof(
        fc.constantFrom(...TALK),
        fc.jsonValue({ maxDepth: 4 }),
        fc.record({
          id: fc.jsonValue(),
          role: fc.constantFrom("user", "assistant"),
          ts: fc.jsonValue(),
          modelInfo: fc.jsonValue(),
          metrics: fc.jsonValue(),
          content: fc.array(
            fc.oneof(
              fc.jsonValue(),
              fc.record({
                type: fc.constantFrom("text", "file", "tool_use", "tool_result", "thinking", "image"),
                text: fc.jsonValue(),
                content: fc.jsonValue(),
                input: fc.jsonValue(),
              }),
            ),
          ),
        }),
      ),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(any, (messages) => {
        try {
          expect(turnsOf(read(messages))).toEqual(turnsOf(read(messages)));
        } catch (error) {
          if (!(error instanceof JpgError) || error.code !== "not_a_session") throw error;
        }
      }),
      { numRuns: runs(200) },
    );
  });
});
