import { describe, expect, it } from "vitest";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import {
  createOpenCodeWriter,
  openCodeCall,
  readOpenCode,
  sentLines,
  turnsOfSession,
} from "../../helpers/opencode-session.ts";

const HOUR = 3_600_000;
const DAY = Date.parse("2026-01-02T10:00:00.000Z");

describe("a summary of OpenCode", () => {
  it("hides everything before it; taken back, everything is there", () => {
    const session = createOpenCodeWriter();
    session.user("one");
    session.say("first");
    session.compact("All about one.");
    session.user("two");
    session.say("second");
    const read = readOpenCode(session);
    const after = ["user: two", "assistant: second"];
    expect(sentLines(read)).toEqual(["user: What did we do so far?", "assistant: All about one.", ...after]);
    expect(sentLines(read, [])).toEqual([
      "user: one",
      "assistant: first",
      "user: What did we do so far?",
      "assistant: All about one.",
      ...after,
    ]);
    expect(read.compactions).toMatchObject([{ from_turn: 0, to_turn: 0, source: "import", metadata: { auto: false } }]);
    expect(read.compactionTurns.get(read.compactions[0]!.id)).toBe(0);
  });

  it("stands before the tail that the agent keeps", () => {
    const session = createOpenCodeWriter();
    session.user("one");
    session.say("first");
    const kept = session.user("two");
    session.say("second");
    session.compact("All about one.", kept);
    session.user("three");
    expect(sentLines(readOpenCode(session))).toEqual([
      "user: What did we do so far?",
      "assistant: All about one.",
      "user: two",
      "assistant: second",
      "user: three",
    ]);
  });

  it("of a second time hides the first one, unless that is kept", () => {
    const written = (tail: boolean) => {
      const session = createOpenCodeWriter();
      session.user("one");
      const kept = session.say("first");
      session.compact("All about one.");
      session.user("two");
      session.say("second");
      session.compact("All about both.", tail ? kept : undefined);
      return session;
    };
    const both = ["user: What did we do so far?", "assistant: All about both."];
    expect(sentLines(readOpenCode(written(false)))).toEqual(both);
    expect(sentLines(readOpenCode(written(true)))).toEqual([
      ...both,
      "assistant: first",
      "user: What did we do so far?",
      "assistant: All about one.",
      "user: two",
      "assistant: second",
    ]);
  });

  it("that failed changes nothing", () => {
    const session = createOpenCodeWriter();
    session.user("one");
    session.say("first");
    session.compact("All ab");
    session.messages.at(-1)!.info["error"] = { name: "APIError", data: { message: "overloaded" } };
    const read = readOpenCode(session);
    expect(read.compactions).toEqual([]);
    expect(sentLines(read)).toEqual(["user: one", "assistant: first", "user: What did we do so far?"]);
  });

  it("with nothing before it is an answer like any other", () => {
    const session = createOpenCodeWriter();
    session.compact("Nothing yet.");
    expect(readOpenCode(session).compactions).toEqual([]);
  });
});

describe("results of tools that OpenCode cleared", () => {
  const cleared = (id: string, at: number) =>
    openCodeCall(id, `output of ${id}`, { time: { start: DAY, end: DAY, compacted: DAY + at } });

  it("are one compaction for each time, made in the turn that was the newest then", () => {
    const session = createOpenCodeWriter();
    session.user("one");
    session.say(cleared("c1", HOUR), cleared("c2", HOUR + 3));
    session.say(cleared("c3", 2 * HOUR), openCodeCall("c4"));
    session.user("two");
    session.say("second");
    const read = readOpenCode(session);
    expect(read.compactions.map(({ tool_calls: policy }) => policy)).toMatchObject([
      { policy: "selective", calls: [{ request: "keep", response: "strip" }, {}] },
      { policy: "selective", calls: [{ request: "keep", response: "strip" }] },
    ]);
    expect(read.compactions.map(({ id }) => read.compactionTurns.get(id))).toEqual([1, 1]);
    const results = (lines: readonly string[]) => lines.filter((line) => line.startsWith("result"));
    expect(results(sentLines(read))).toEqual([
      "result c1: [Old tool result content cleared]",
      "result c2: [Old tool result content cleared]",
      "result c3: [Old tool result content cleared]",
      "result c4: kelp",
    ]);
    expect(results(sentLines(read, []))).toContain("result c3: output of c3");
  });

  it("stay cleared in messages that a later summary keeps", () => {
    const session = createOpenCodeWriter();
    session.user("one");
    const kept = session.user("two");
    session.say(cleared("c1", 1000));
    session.say("done");
    session.compact("All.", kept);
    expect(sentLines(readOpenCode(session))).toContain("result c1: [Old tool result content cleared]");
  });
});

it("the view of a compacted session is that of its turns with its compactions, which rise in time", () => {
  const session = createOpenCodeWriter();
  session.user("one");
  session.say("first");
  session.compact("All about one.");
  session.compact("All about that.");
  const read = readOpenCode(session);
  const times = read.compactions.map(({ timestamp }) => timestamp);
  expect([...new Set(times)].sort()).toEqual(times);
  expect(projectTurns(turnsOfSession(read), read.compactions).turns.length).toBeGreaterThan(0);
});
