import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { isClaudeSession } from "../../../src/formats/claude-code/agent.ts";
import { createClaudeWriter, type Json, sessionBytes } from "../../helpers/claude-session.ts";

const detect = (...lines: (Json | string)[]): boolean => isClaudeSession(createBufferSource(sessionBytes(lines)));

describe("isClaudeSession", () => {
  it("knows a session by its messages, behind side lines and damaged ones", () => {
    const writer = createClaudeWriter();
    writer.prompt("hello");
    expect(detect("{ damaged", { type: "unheard-of" }, ...writer.lines)).toBe(true);
  });

  it.each([
    { type: "summary", summary: "Tides", leafUuid: "x" },
    { type: "file-history-snapshot", messageId: "m", snapshot: {} },
    { type: "permission-mode", permissionMode: "default", sessionId: "s" },
  ])("knows a session by a side line of type $type", (line) => {
    expect(detect(line)).toBe(true);
  });

  it.each([
    [{ type: "session_meta", payload: { id: "x" }, timestamp: "2026-03-01T09:00:00Z" }],
    [{ type: "session", version: 3, id: "x" }],
    [{ type: "session.start", data: {}, id: "x", parentId: null }],
    [{ type: "user", content: "hello" }],
    [{ messages: [] }],
  ])("does not take another format for one: %j", (line) => {
    expect(detect(line)).toBe(false);
  });

  it("says no to an empty file and looks no further than the first lines", () => {
    expect(detect()).toBe(false);
    const writer = createClaudeWriter();
    writer.prompt("late");
    expect(detect(...Array.from({ length: 60 }, () => ({ type: "x" })), ...writer.lines)).toBe(false);
  });
});
