// The parts of a window: each visible event counts once, attachments apart, summaries and indexes by what they are.

import { describe, expect, it } from "vitest";
import type { Event } from "../../../src/core/conversation/event.ts";
import { estimateEvent } from "../../../src/core/conversation/token-estimate.ts";
import { measureParts } from "../../../src/core/model/cache-cost.ts";
import { parseConversation } from "../../helpers/notation.ts";

const AT = { timestamp: "2026-01-01T00:00:00Z" };
const measure = { prompts: new Set<Event>(), countEvent: estimateEvent };

describe("measureParts", () => {
  const [turn] = parseConversation("U S R T t A N");
  const events = turn!.events;

  it("adds up to what its events count, notes and starts being nothing", () => {
    const parts = measureParts({ origin: { kind: "kept", turn: 0 }, events }, measure);
    expect([...parts.keys()].sort()).toEqual(["assistant", "calls", "harness", "reasoning", "results", "user"]);
    const total = events.reduce((sum, event) => sum + estimateEvent(event), 0);
    expect([...parts.values()].reduce((sum, tokens) => sum + tokens, 0)).toBe(total);
  });

  it("counts all of a summary and of an index as that", () => {
    const origin = { from: 0, to: 3, compaction: "c" };
    expect([...measureParts({ origin: { kind: "summary", ...origin }, events }, measure).keys()]).toEqual([
      "summaries",
    ]);
    expect([...measureParts({ origin: { kind: "index", ...origin }, events }, measure).keys()]).toEqual(["index"]);
  });

  it("separates a system prompt from the rest of a request", () => {
    const parts = measureParts(
      { origin: { kind: "kept", turn: 0 }, events },
      { ...measure, prompts: new Set(events.filter(({ type }) => type === "chat_request").slice(0, 1)) },
    );
    expect(parts.get("system")).toBe(estimateEvent(events[1]!));
    expect(parts.has("user")).toBe(false);
  });

  it("counts images and documents apart from their text", () => {
    const text: Event = { type: "chat_request", id: "q", ...AT, content: [{ type: "text", text: "look at this" }] };
    const image = { type: "image", media_type: "image/png", data: "aaaa" } as const;
    const both: Event = { ...text, content: [{ type: "text", text: "look at this" }, image] };
    const parts = measureParts({ origin: { kind: "kept", turn: 0 }, events: [both] }, measure);
    expect(parts.get("user")).toBe(estimateEvent(text));
    expect(parts.get("attachments")).toBe(estimateEvent(both) - estimateEvent(text));
  });
});
