import { describe, expect, it } from "vitest";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { countMessages, countMessagesAfter } from "../../../src/core/model/token-meter.ts";
import { makeCompaction, summaryOf } from "../../helpers/make-compaction.ts";
import { parseConversation } from "../../helpers/notation.ts";

describe("counting the messages of a view", () => {
  it("counts requests and answers, not calls, reasoning, notes and what the harness says", () => {
    const view = projectTurns(parseConversation("U R T t A | U S N Q A | U D"), []);
    expect(countMessages(view)).toEqual({ messages: 6, summaries: 0 });
  });

  it.each(["pair", "request", "system"] as const)("counts a summary injected as %s as no message", (inject) => {
    const turns = parseConversation("U A | U A | U A A");
    const view = projectTurns(turns, [makeCompaction("k", [0, 1], summaryOf("what was said", { inject }))]);
    expect(countMessages(view)).toEqual({ messages: 3, summaries: 1 });
  });

  it("counts the messages of a replacement list, which the model was sent as they stand", () => {
    const [turn] = parseConversation("U A");
    const turns = parseConversation("U A | U A");
    const view = projectTurns(turns, [makeCompaction("k", [0, 0], { replacement: turn!.events })]);
    expect(countMessages(view)).toEqual({ messages: 4, summaries: 0 });
  });

  it("counts neither calls nor a replacement list as said after a time", () => {
    const [turn] = parseConversation("U A");
    const turns = parseConversation("U A | U R T t N S A");
    const view = projectTurns(turns, [makeCompaction("k", [0, 0], { replacement: turn!.events })]);
    expect(countMessagesAfter(view, "2025-01-01T00:00:00Z")).toBe(2);
  });

  it("counts what was said after a time, and nothing that a summary stands for", () => {
    const turns = parseConversation("U A | U A | U A");
    const view = projectTurns(turns, [makeCompaction("k", [0, 0], summaryOf("what was said"))]);
    expect(countMessagesAfter(view, "2025-01-01T00:00:00Z")).toBe(4);
    expect(countMessagesAfter(view, "2026-01-01T02:00:00Z")).toBe(2);
    expect(countMessagesAfter(view, "2026-01-01T02:00:01.5Z")).toBe(1);
    expect(countMessagesAfter(view, "2026-01-01T02:00:01Z")).toBe(1);
    expect(countMessagesAfter(view, "2026-01-01T02:00:00.999Z")).toBe(2);
    expect(countMessagesAfter(view, "2027-01-01T00:00:00Z")).toBe(0);
  });
});
