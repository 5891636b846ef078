import { describe, expect, it } from "vitest";
import { renderExchange } from "../../../src/cli/chat/run-chat.ts";
import { createStyle } from "../../../src/cli/frame/terminal.ts";
import type { Event } from "../../../src/core/conversation/event.ts";

const look = { style: createStyle(false), ascii: false, markdown: true };
const time = "2026-11-23T10:00:00.000Z";
const request = (content: string, more: object = {}): Event =>
  ({ type: "chat_request", id: "q", timestamp: time, content, ...more }) as Event;
const answer = (message: string): Event => ({ type: "chat_response", id: "a", timestamp: time, message }) as Event;
const numbered = (count: number): string => Array.from({ length: count }, (_, at) => `- ${at}`).join("\n");

describe("what was said last", () => {
  it("is the last request of a person and the last text of the answer", () => {
    const reminder = request("Be brief.", { role: "system" });
    const said = [request("How high is it?"), answer("Let me see."), answer("It is **high**."), reminder];
    expect(renderExchange(said, look, 80)).toBe("> How high is it?\n\nIt is high.");
    expect(renderExchange(said, { ...look, markdown: false }, 80)).toContain("It is **high**.");
    expect(renderExchange([request("One two three four")], look, 12)).toBe("> One two\n  three\n  four");
    expect(renderExchange([reminder], look, 80)).toBeNull();
  });

  it("is cut where it is long, and safe for the terminal", () => {
    const shown = renderExchange([request(numbered(50)), answer(numbered(1000))], look, 80)?.split("\n") ?? [];
    expect(shown).toHaveLength(6 + 1 + 20);
    expect(shown.slice(0, 2)).toEqual(["> …", "  - 45"]);
    expect(shown.slice(-2)).toEqual(["• 998", "• 999"]);
    expect(renderExchange([request("\u001b[2J"), answer("\u001b]0;x\u0007")], look, 80)).toBe("> ␛[2J\n\n␛]0;x␇");
  });
});
