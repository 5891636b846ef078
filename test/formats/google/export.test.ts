import { describe, expect, it } from "vitest";
import type { Event, View } from "../../../src/core/conversation/event.ts";
import { exportGoogle } from "../../../src/formats/google/write.ts";

const time = { timestamp: "2026-03-01T09:00:00.000Z" };
const view = (...events: Event[]): View => ({ turns: [{ origin: { kind: "kept", turn: 0 }, events }] });

describe("exportGoogle", () => {
  it("gives contents with the roles user and model", () => {
    const exported = exportGoogle(
      view(
        { type: "chat_request", id: "a", ...time, content: "hello" },
        { type: "chat_response", id: "b", ...time, message: "hi" },
      ),
    );
    expect(exported).toEqual({
      contents: [
        { role: "user", parts: [{ text: "hello" }] },
        { role: "model", parts: [{ text: "hi" }] },
      ],
    });
  });

  it("makes system prompts before everything else the system instruction", () => {
    const exported = exportGoogle(
      view(
        { type: "chat_request", id: "s", ...time, role: "system", content: "Be brief." },
        { type: "chat_request", id: "d", ...time, role: "developer", content: "Use metres." },
        { type: "chat_request", id: "u", ...time, content: "How deep?" },
      ),
    );
    expect(exported).toEqual({
      systemInstruction: { parts: [{ text: "Be brief.\n\nUse metres." }] },
      contents: [{ role: "user", parts: [{ text: "How deep?" }] }],
    });
  });
});
