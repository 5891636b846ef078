import { describe, expect, it } from "vitest";
import type { Event } from "../../src/core/event.ts";
import {
  estimateByKind,
  estimateEvent,
  estimateEvents,
  estimateView,
  formatTokens,
} from "../../src/core/token-estimate.ts";
import { parseConversation } from "../helpers/notation.ts";

const base = { id: "a", timestamp: "t" };
const tokensOf = (event: object): number => estimateEvent({ ...base, ...event } as unknown as Event);

describe("estimateEvent", () => {
  it.each<[string, object, number]>([
    ["prose at 4 characters a token", { type: "chat_request", content: "x".repeat(400) }, 100],
    ["an answer", { type: "chat_response", message: "x".repeat(401) }, 101],
    ["reasoning", { type: "chat_response", reasoning: "x".repeat(40) }, 10],
    [
      "encrypted reasoning by its length",
      { type: "chat_response", reasoning: "", metadata: { encrypted: "x".repeat(770) } },
      100,
    ],
    [
      "withheld reasoning by its signature",
      { type: "chat_response", reasoning: "", metadata: { signature: "x".repeat(770) } },
      100,
    ],
    [
      "reasoning that stands there without its signature",
      { type: "chat_response", reasoning: "x".repeat(40), metadata: { signature: "x".repeat(770) } },
      10,
    ],
    ["tool output at 3", { type: "tool_call_response", content: "x".repeat(300) }, 100],
    [
      "arguments at 2.7, keys and quotes counted",
      { type: "tool_call_request", name: "read", arguments: { path: "x".repeat(88) } },
      39,
    ],
    ["structured data", { type: "chat_response", data: [1, true, null] }, 5],
    ["an image as one size", { type: "chat_request", content: [{ type: "image", data: "x".repeat(99_999) }] }, 1600],
    [
      "a document as one size",
      { type: "chat_request", content: [{ type: "document", data: "x".repeat(99_999) }] },
      3000,
    ],
    [
      "parts together",
      {
        type: "chat_request",
        content: [
          { type: "text", text: "x".repeat(4) },
          { type: "attachment", name: "ab", text: "xy" },
        ],
      },
      2,
    ],
    [
      "what only its provider knows",
      { type: "chat_request", content: [{ type: "opaque", value: "x".repeat(38) }] },
      10,
    ],
    ["a moved text by its recorded size", { type: "chat_request", content: { $attachment: "a", size: 4000 } }, 1000],
    [
      "a moved text without a size as the least that is moved",
      { type: "chat_request", content: { $attachment: "a" } },
      65_536,
    ],
    [
      "a moved argument by its size",
      { type: "tool_call_request", name: "", arguments: { $attachment: "a", size: 27 } },
      10,
    ],
    ["what no model sees as nothing", { type: "note", kind: "k", data: "x".repeat(99) }, 0],
    ["an unknown kind as nothing", { type: "weather" }, 0],
  ])("counts %s", (_name, event, tokens) => {
    expect(tokensOf(event)).toBe(tokens);
  });
});

describe("estimates of many events", () => {
  const turns = parseConversation("U R T t A S | U A");
  const events = turns.flatMap((turn) => turn.events);

  it("add up, in total, by kind and over a view", () => {
    const byKind = estimateByKind(events);
    const { total, ...kinds } = byKind;
    expect(total).toBe(estimateEvents(events));
    expect(Object.values(kinds).reduce((sum, tokens) => sum + tokens, 0)).toBe(total);
    const view = {
      turns: turns.map((turn) => ({ origin: { kind: "kept", turn: turn.index } as const, events: turn.events })),
    };
    expect(estimateView(view)).toBe(total);
  });

  it("tell the kinds apart", () => {
    expect(estimateByKind(events)).toMatchObject({
      requests: 4,
      messages: 4,
      reasoning: 3,
      tool_calls: 9,
      tool_results: 13,
      harness: 3,
    });
  });
});

describe("formatTokens", () => {
  it.each([
    [0, "0"],
    [950, "950"],
    [999.6, "1.0k"],
    [1000, "1.0k"],
    [84_213, "84.2k"],
    [999_949, "999.9k"],
    [999_950, "1.0M"],
    [1_234_567, "1.2M"],
  ])("writes %d as %s", (tokens, text) => {
    expect(formatTokens(tokens)).toBe(text);
  });
});
