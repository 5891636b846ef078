import { describe, expect, it } from "vitest";
import { hiddenContent } from "../../../src/core/compact/hidden-content.ts";
import type { Event, Turn } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { estimateEvents } from "../../../src/core/conversation/token-estimate.ts";

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

const bytesOf = (events: readonly Event[]): number => hiddenContent(events, []).bytes.before;

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

  it("adds up what the halves of each tool's calls lose, most tokens first, then by name", () => {
    const events = [
      ...call("b", { a: "x" }, "12345"),
      ...call("a", { a: "x" }, "12345"),
      ...call("b", { a: "xyz" }, "123", true),
      ...call("c", { a: "x" }, "12345"),
    ];
    const tool = {
      calls: 1,
      errors: 0,
      bytes: bytesOf(events.slice(0, 2)),
      tokens: estimateEvents(events.slice(0, 2)),
    };
    const twice = [...events.slice(0, 2), ...events.slice(4, 6)];
    expect(hiddenContent(events, []).tools).toEqual([
      { name: "b", calls: 2, errors: 1, bytes: bytesOf(twice), tokens: estimateEvents(twice) },
      { name: "a", ...tool },
      { name: "c", ...tool },
    ]);
  });

  it("counts what is left of a shortened call, and never less than nothing as lost", () => {
    const [request, result] = call("x", {}, "y".repeat(300)) as [Event, Event];
    const shorter = { ...result, content: "y".repeat(30) } as Event;
    const [half] = hiddenContent([request, result], [request, shorter]).tools;
    expect(half).toEqual({ name: "x", calls: 1, errors: 0, bytes: 270, tokens: 90 });
    const longer = { ...result, content: "y".repeat(600) } as Event;
    const hidden = hiddenContent([request, result], [request, longer]);
    expect(hidden.tools).toEqual([{ name: "x", calls: 1, errors: 0, bytes: 0, tokens: 0 }]);
    expect(hidden).toMatchObject({ events_removed: 0, events_changed: 1, requests: [] });
    expect(hidden.tokens.after - hidden.tokens.before).toBe(100);
    expect(hidden.bytes.after - hidden.bytes.before).toBe(300);
  });

  it("takes a failed call for one that failed only when its result is touched", () => {
    const [request, result] = call("x", { path: "long/enough" }, "boom", true) as [Event, Event];
    expect(hiddenContent([request, result], [result]).tools).toMatchObject([{ calls: 1, errors: 0 }]);
    expect(hiddenContent([request, result], [request]).tools).toMatchObject([{ calls: 1, errors: 1 }]);
    expect(hiddenContent([result], []).tools).toEqual([]);
  });

  it("counts what a view adds, and passes over what no model is sent", () => {
    const note: Event = { type: "note", ...id(), kind: "progress", data: { path: "a" } };
    const summary: Event = { type: "chat_response", ...id(), message: "x".repeat(40) };
    expect(hiddenContent([note], [summary])).toEqual({
      tokens: { before: 0, after: 10 },
      bytes: { before: 0, after: 40 },
      events_removed: 0,
      events_changed: 0,
      tools: [],
      files: [],
      commands: [],
      requests: [],
    });
  });

  it("finds the call of a result as a projection does: in its own turn, else in an earlier one", () => {
    const start = (): Event => ({ type: "turn_start", ...id() });
    const [open] = call("open", {}, "") as [Event, Event];
    const [own, ownResult] = call("own", {}, "x".repeat(30)) as [Event, Event];
    const at = (event: Event): Event => ({ ...event, call_id: "same" }) as Event;
    const turns = [at(open), start(), at(own), at(ownResult)];
    expect(hiddenContent(turns, turns.slice(0, 3)).tools).toMatchObject([{ name: "own", tokens: 10 }]);
    const late = [start(), at(open), start(), at(ownResult)];
    expect(hiddenContent(late, late.slice(0, 3)).tools).toMatchObject([{ name: "open", tokens: 10 }]);
  });

  it("names each file and each command once", () => {
    const twice = [
      ...call("Bash", { command: "npm test" }, ""),
      ...call("Read", { file_path: "z.ts" }, ""),
      ...call("Read", { file_path: "a.ts" }, ""),
      ...call("Bash", { command: "ls" }, ""),
      ...call("Bash", { command: "npm test" }, ""),
      ...call("Read", { file_path: "z.ts" }, ""),
    ];
    expect(hiddenContent(twice, [])).toMatchObject({ files: ["a.ts", "z.ts"], commands: ["npm test", "ls"] });
  });

  it.each<[string, object, readonly string[]]>([
    ["a text", { content: "one\ntwo" }, ["one"]],
    [
      "the first text of several parts",
      { content: [{ type: "image" }, { type: "text", text: "one" }, { type: "text", text: "two" }] },
      ["one"],
    ],
    ["no text of parts without one", { content: [{ type: "image" }] }, []],
    ["no blank text", { content: " \n " }, []],
    ["no moved text", { content: { $attachment: "a" } }, []],
    ["no moved text of a part", { content: [{ type: "text", text: { $attachment: "a" } }] }, []],
    ["nothing that the harness said", { content: "mind", metadata: { origin: "harness" } }, []],
    ["what was queued", { content: "also", metadata: { origin: "queued" } }, ["also"]],
  ])("names of the requests that are gone %s", (_what, fields, lines) => {
    const request = { type: "chat_request", ...id(), ...fields } as unknown as Event;
    expect(hiddenContent([request], []).requests).toEqual(lines);
    expect(hiddenContent([request], [{ ...request }]).requests).toEqual([]);
    expect(hiddenContent([{ ...request, type: "chat_response" } as Event], []).requests).toEqual([]);
  });

  it("shortens long lines", () => {
    const events = call("Bash", { cmd: `echo ${"x".repeat(500)}` }, "");
    expect(hiddenContent(events, []).commands[0]).toHaveLength(120);
  });
});
