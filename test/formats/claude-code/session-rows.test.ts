// Rows that say something of the session as a whole: where it moved, what continues it, what it cost.
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { claudeDescent, claudeDirectory, claudeStart } from "../../../src/formats/claude-code/session-folder.ts";
import { allTurns, createClaudeWriter, importLines, sessionBytes } from "../../helpers/claude-session.ts";

/** A turn, then the row. */
function sessionWith(row: Readonly<Record<string, unknown>>) {
  const writer = createClaudeWriter();
  writer.prompt("Where is the ferry?");
  writer.say("At the pier.");
  writer.side(row);
  return writer;
}
const sourceOf = (lines: Parameters<typeof sessionBytes>[0]) => createBufferSource(sessionBytes(lines));

describe("a row of Claude Code about its session", () => {
  it("says where the session moved", () => {
    const { lines } = sessionWith({ type: "relocated", relocatedCwd: "/home/sam/quay" });
    expect(importLines(lines).cwd).toBe("/home/sam/quay");
    expect(claudeDirectory(sourceOf(lines), "-home-sam-quay")).toEqual({ path: "/home/sam/quay" });
    expect(claudeDirectory(sourceOf(lines), "-home-sam-tidepool")).toEqual({ path: "/home/sam/tidepool" });
    expect(importLines([...lines, { type: "relocated", relocatedCwd: 7 }]).cwd).toBe("/home/sam/quay");
  });

  it("says which session continues it", () => {
    const { lines } = sessionWith({
      type: "continued-in",
      continuedInSessionId: "c0ffee00-0000-4000-8000-000000000001",
    });
    expect(importLines(lines).lineage?.continuedIn).toBe("c0ffee00-0000-4000-8000-000000000001");
  });

  it("says what the session cost so far", () => {
    const { lines } = sessionWith({ type: "cost-state", totalCostUSD: 0.5, modelUsage: { a: { costUSD: 0.5 } } });
    const notes = allTurns(importLines(lines)).flatMap(({ events }) => events.filter(({ type }) => type === "note"));
    expect(notes.map(({ metadata }) => metadata?.["session_cost_usd"])).toEqual([0.5]);
  });
});

describe("the first row of a session", () => {
  it("shows by which line copies of it are found", () => {
    const { lines } = createTurn();
    const [first] = lines;
    const uuid = String(first!["uuid"]);
    expect(claudeStart(sourceOf(["{", ...lines]))).toEqual({ line: uuid, hasOriginal: false });
    const copied = { ...first!, uuid: "b0", forkedFrom: { sessionId: "other", messageUuid: uuid } };
    expect(claudeStart(sourceOf([copied]))).toEqual({ line: uuid, hasOriginal: true });
    expect(claudeDescent(sourceOf([copied]), null)).toEqual({ kind: "fork", sessions: ["other"] });
    const boundary = { ...first!, type: "system", subtype: "compact_boundary" };
    expect(claudeStart(sourceOf([boundary]))).toEqual({ line: uuid, hasOriginal: true });
  });

  it.each([{}, { forkedFrom: 1 }, { forkedFrom: {} }, { forkedFrom: { sessionId: null, messageUuid: [] } }])(
    "is no copy's if it names nothing: %j",
    (extra) => {
      const { lines } = createTurn();
      expect(claudeDescent(sourceOf([{ ...lines[0]!, ...extra }]), null)).toBeNull();
    },
  );

  it("names what a forked sub-agent was shown", () => {
    const { lines } = createTurn();
    const row = {
      type: "fork-context-ref",
      agentId: "a1",
      parentSessionId: "p1",
      parentLastUuid: "u1",
      contextLength: 4,
    };
    const own = lines.map((line) => ({ ...line, sessionId: "p1", isSidechain: true, agentId: "a1" }));
    const about = JSON.stringify({ toolUseId: "toolu_1" });
    const descent = { kind: "agent", sessions: ["p1"], name: "a1", at: "u1" };
    expect(claudeDescent(sourceOf([row, ...own]), null)).toEqual(descent);
    expect(claudeDescent(sourceOf([row, ...own]), about)).toEqual({ ...descent, call: "toolu_1" });
    expect(importLines([row, ...own])).toMatchObject({ sessionId: "p1-agent-a1" });
    expect(importLines([row, ...own]).parts).toBeUndefined();
  });
});

function createTurn() {
  const writer = createClaudeWriter();
  writer.prompt("Where is the ferry?");
  writer.say("At the pier.");
  return writer;
}
