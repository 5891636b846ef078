import { describe, expect, it } from "vitest";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import {
  contextWindow,
  countMessages,
  countMessagesAfter,
  decideWindow,
  tokenizerFactor,
} from "../../../src/core/model/token-meter.ts";
import { makeCompaction, summaryOf } from "../../helpers/make-compaction.ts";
import { meteredTurns } from "../../helpers/metered-turns.ts";
import { parseConversation } from "../../helpers/notation.ts";
import { createTokenMeter } from "../../helpers/token-meter.ts";

const LENGTHS = Array.from({ length: 6 }, () => 4000);
const told = (model: string, betas?: readonly string[]) =>
  meteredTurns({ factor: 1, overhead: 240_000, lengths: LENGTHS, model }).map(({ index, events }) => ({
    index,
    events: events.map((event) => ({ ...event, metadata: { ...event.metadata, ...(betas && { betas }) } })),
  }));
const read = (asked: string, model: string, betas?: readonly string[]) =>
  createTokenMeter(told(model, betas)).windowOf(asked);

describe("what is recorded of a window", () => {
  it("reads the larger window from the mark in a model's name, and from a header", () => {
    expect(read("anthropic/claude-opus-4-5", "claude-opus-4-5[1m]").asked).toBe(1_000_000);
    expect(read("anthropic/claude-opus-4-5[1m]", "gpt-5").asked).toBe(1_000_000);
    expect(read("claude-opus-4-5", "claude-opus-4-5-20251101", ["x", "context-1m-2025-08-07"]).asked).toBe(1_000_000);
    expect(read("claude-opus-4-5", "claude-opus-4-5", ["x"]).asked).toBeNull();
  });

  it("gives the largest request that the model answered, whatever route or date is in its name", () => {
    expect(read("anthropic/claude-opus-4-5", "claude-opus-4-5-20251101").largest).toBeGreaterThan(245_000);
    expect(read("anthropic/claude-opus-4-5", "claude-sonnet-4-5").largest).toBe(0);
  });
});

describe("decideWindow", () => {
  it.each([
    [
      "the user's setting, whatever else is known",
      { set: 50_000, published: 200_000 },
      { asked: 1_000_000, largest: 0 },
      50_000,
    ],
    [
      "what the session asked for, before what is published",
      { published: 200_000 },
      { asked: 1_000_000, largest: 0 },
      1_000_000,
    ],
    ["what is published", { published: 200_000 }, { asked: null, largest: 150_000 }, 200_000],
    ["never less than what was answered", { published: 200_000 }, { asked: null, largest: 240_000 }, 240_000],
    ["nothing where nothing is known", { published: null }, { asked: null, largest: 240_000 }, null],
  ])("gives %s", (_, known, recorded, window) => {
    expect(decideWindow(known, recorded)).toBe(window);
  });
});

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

  it("counts the messages of a replacement list, which the model was sent unchanged", () => {
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

  it("counts what was said after a time, and nothing that a summary replaces", () => {
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

describe("contextWindow", () => {
  it("knows a family by the beginning of its name, with or without a provider", () => {
    expect(contextWindow("claude-opus-4-5-20251101")).toBe(200_000);
    expect(contextWindow("claude-3-5-haiku-latest")).toBe(200_000);
    expect(contextWindow("claude-opus-4-8")).toBe(1_000_000);
    expect(contextWindow("openrouter/anthropic/claude-sonnet-5")).toBe(1_000_000);
    expect(contextWindow("us.anthropic.claude-sonnet-4-5-20250929-v1:0")).toBe(200_000);
    expect(contextWindow("anthropic/claude-sonnet-4.5")).toBe(200_000);
    expect(contextWindow("vertex_ai/claude-opus-4-8@20260101")).toBe(1_000_000);
    expect(contextWindow("claude-sonnet-4-5[1m]")).toBe(1_000_000);
    expect(contextWindow("GPT-5.3-codex")).toBe(272_000);
    expect(contextWindow("gemini-2.5-flash")).toBe(1_048_576);
  });

  it("guesses nothing", () => {
    expect(contextWindow("llama-3.3-70b")).toBeNull();
    expect(contextWindow("")).toBeNull();
    expect(contextWindow("not-claude-3")).toBeNull();
  });
});

describe("tokenizerFactor", () => {
  it.each([
    ["claude-opus-4-5-20251101", 1.05],
    ["anthropic/claude-sonnet-4-6", 1.05],
    ["claude-3-haiku-20240307", 1.05],
    ["claude-3-5-sonnet-latest", 1.05],
    ["claude-opus-4-7", 1.5],
    ["claude-opus-4-8[1m]", 1.5],
    ["claude-fable-5", 1.5],
    ["claude-haiku-5-5", 1.5],
    ["gpt-5.4", 1],
    ["llama-3.3-70b", 1],
    [null, 1],
  ])("of %s is %d", (model, factor) => {
    expect(tokenizerFactor(model)).toBe(factor);
  });
});
