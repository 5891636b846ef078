import { describe, expect, it } from "vitest";
import type { Event } from "../../src/core/event.ts";
import { hiddenContent } from "../../src/core/hidden-content.ts";
import { projectTurns } from "../../src/core/projection.ts";
import type { Turn } from "../../src/core/turn.ts";

let next = 0;
const id = (): { id: string; timestamp: string } => ({ id: `x${next++}`, timestamp: "2026-01-01T00:00:00Z" });

function call(name: string, args: unknown, content: string, is_error = false): Event[] {
  const call_id = `c${next}`;
  return [
    { type: "tool_call_request", ...id(), call_id, name, arguments: args },
    { type: "tool_call_response", ...id(), call_id, content, is_error },
  ];
}

const turn: Turn = {
  index: 0,
  events: [
    { type: "turn_start", ...id() },
    { type: "chat_request", ...id(), content: "  fix the parser\nplease" },
    { type: "chat_response", ...id(), reasoning: "hmm" },
    ...call("Read", { file_path: "src/b.ts" }, "grün".repeat(100)),
    ...call("Bash", { command: "npm test\necho done", description: "tests" }, "boom", true),
    ...call("Bash", { command: ["ls", "-l"] }, "out"),
    ...call("Edit", { edits: [{ path: "src/a.ts" }, { path: "src/b.ts" }], notebook_path: "n.ipynb" }, "ok"),
    { type: "chat_request", ...id(), role: "system", content: "mind the gap", metadata: { origin: "harness" } },
    { type: "chat_response", ...id(), message: "done" },
  ],
};

const shown = (more: object): Event[] =>
  projectTurns(
    [turn],
    [{ type: "compaction", id: "k", timestamp: "2026-02-01T00:00:00Z", from_turn: 0, to_turn: 0, ...more }],
  ).turns.flatMap(({ events }) => events);

describe("hiddenContent", () => {
  it("counts what stripping takes out, tool by tool", () => {
    const hidden = hiddenContent(
      turn.events,
      shown({ reasoning: "strip", tool_calls: { policy: "strip", request: true, response: true } }),
    );
    expect(hidden).toMatchObject({ events_removed: 1, events_changed: 8, requests: [] });
    expect(hidden.tools.map(({ name, calls, errors }) => [name, calls, errors])).toEqual([
      ["Read", 1, 0],
      ["Bash", 2, 1],
      ["Edit", 1, 0],
    ]);
    expect(hidden.files).toEqual(["n.ipynb", "src/a.ts", "src/b.ts"]);
    expect(hidden.commands).toEqual(["npm test", "ls -l"]);
    expect(hidden.tokens.after).toBeLessThan(hidden.tokens.before);
  });

  it("counts UTF-8 bytes of what a model is sent", () => {
    const [result] = call("x", {}, "grün€😀\ud800").slice(1) as [Event];
    expect(hiddenContent([result], []).bytes).toEqual({ before: 5 + 3 + 4 + 2, after: 0 });
  });

  it("gives the first lines of the user's requests that are gone", () => {
    const hidden = hiddenContent(turn.events, shown({ summary: { summary: "a short one" } }));
    expect(hidden.requests).toEqual(["fix the parser"]);
    expect(hidden.events_removed).toBe(12);
    expect(hidden.bytes.after).toBeGreaterThan("a short one".length);
  });

  it("is empty when everything is shown", () => {
    const hidden = hiddenContent(turn.events, turn.events);
    expect(hidden).toMatchObject({
      events_removed: 0,
      events_changed: 0,
      tools: [],
      files: [],
      commands: [],
      requests: [],
    });
    expect(hidden.tokens.after).toBe(hidden.tokens.before);
    expect(hiddenContent([], [])).toMatchObject({ events_removed: 0, tools: [] });
  });

  it("shortens long lines", () => {
    const events = call("Bash", { cmd: `echo ${"x".repeat(500)}` }, "");
    expect(hiddenContent(events, []).commands[0]).toHaveLength(120);
  });
});
