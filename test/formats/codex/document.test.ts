// Rollouts of spring 2025: one JSON document with a description and items, read as later versions' lines.
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { CODEX, readCodexSession } from "../../../src/formats/codex/agent.ts";
import { outline, saidIn, turnsOf } from "../../helpers/codex-session.ts";

const said = (text: string) => ({ role: "user", type: "message", content: [{ type: "input_text", text }] });
const ITEMS = [
  said("Which kelp grows here?"),
  { id: "rs_1", type: "reasoning", summary: [], duration_ms: 812 },
  {
    id: "fc_1",
    type: "function_call",
    status: "completed",
    call_id: "call_1",
    name: "shell",
    arguments: '{"command":["ls"]}',
  },
  {
    type: "function_call_output",
    call_id: "call_1",
    output: '{"output":"no such reef","metadata":{"exit_code":1,"duration_seconds":0.1}}',
  },
  {
    id: "msg_1",
    type: "message",
    status: "completed",
    role: "assistant",
    content: [{ type: "output_text", annotations: [], text: "Bull kelp." }],
  },
  said("And in winter?"),
];
const ID = "3f0c3a52-1111-4222-8333-444444444444";
const rollout = (items: readonly unknown[], indent = 2) =>
  createBufferSource(
    Buffer.from(
      JSON.stringify(
        { session: { timestamp: "2025-04-27T10:11:12.345Z", id: ID, instructions: "" }, items },
        null,
        indent,
      ),
    ),
  );

describe("a rollout that is one document", () => {
  it.each([0, 2])("is recognised, and read into turns with calls and a title (indent %i)", (indent) => {
    const source = rollout(ITEMS, indent);
    expect([CODEX.detect(source), CODEX.files.document?.(source)]).toEqual([true, "json"]);
    const session = readCodexSession(source);
    expect(session).toMatchObject({
      sessionId: ID,
      title: "Which kelp grows here?",
      createdAt: "2025-04-27T10:11:12.345Z",
      turnCount: 2,
      skippedLines: [],
    });
    expect(outline(saidIn(session, 0))).toEqual([
      "user: Which kelp grows here?",
      "reasoning: ",
      "call call_1",
      "output call_1",
      "answer: Bull kelp.",
    ]);
    expect(saidIn(session, 0).find(({ type }) => type === "tool_call_response")).toMatchObject({ is_error: true });
    expect(outline(saidIn(session, 1))).toEqual(["user: And in winter?"]);
  });

  it("only adds events when it grew", () => {
    const [before, after] = [ITEMS.slice(0, 4), ITEMS].map((items) => turnsOf(readCodexSession(rollout(items))));
    expect(after?.[0]?.events.slice(0, before?.[0]?.events.length)).toEqual(before?.[0]?.events);
  });

  it("names items that are none by their position", () => {
    const session = readCodexSession(rollout([...ITEMS.slice(0, 1), "kelp", null]));
    expect(session.skippedLines).toEqual([
      { line: 3, reason: "not a JSON object" },
      { line: 4, reason: "not a JSON object" },
    ]);
  });

  it.each([{}, [], { session: {}, items: [] }, { session: { id: 1 }, items: [] }, { session: { id: ID }, items: {} }])(
    "is no other document: %j",
    (value) => {
      expect(CODEX.detect(createBufferSource(Buffer.from(JSON.stringify(value))))).toBe(false);
    },
  );
});
