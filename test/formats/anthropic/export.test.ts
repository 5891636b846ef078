import { describe, expect, it } from "vitest";
import type { Event, View } from "../../../src/core/conversation/event.ts";
import { exportAnthropic } from "../../../src/formats/anthropic/write.ts";

const time = { timestamp: "2026-03-01T09:00:00.000Z" };
const view = (...events: Event[]): View => ({ turns: [{ origin: { kind: "kept", turn: 0 }, events }] });

describe("exportAnthropic", () => {
  it("gives messages without a system prompt when the conversation holds none", () => {
    const exported = exportAnthropic(view({ type: "chat_request", id: "a", ...time, content: "hello" }));
    expect(exported).toEqual({ messages: [{ role: "user", content: [{ type: "text", text: "hello" }] }] });
  });

  it("makes system prompts before everything else the system prompt, and leaves harness texts where they are", () => {
    const exported = exportAnthropic(
      view(
        { type: "turn_start", id: "t", ...time },
        { type: "chat_request", id: "s", ...time, role: "system", content: "Be brief." },
        { type: "chat_request", id: "d", ...time, role: "developer", content: "Use metres." },
        {
          type: "chat_request",
          id: "h",
          ...time,
          role: "system",
          content: "It is spring.",
          metadata: { origin: "harness" },
        },
        { type: "chat_request", id: "u", ...time, content: "How deep?" },
      ),
    );
    expect(exported.system).toBe("Be brief.\n\nUse metres.");
    expect(exported.messages).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "<system-reminder>\nIt is spring.\n</system-reminder>" },
          { type: "text", text: "How deep?" },
        ],
      },
    ]);
  });
});
