import { describe, expect, it } from "vitest";
import type { Event } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { toNaiveList } from "../../../src/core/model/naive-messages.ts";
import { PROVIDER_NAMES, type ProviderName } from "../../../src/core/model/provider-rules.ts";
import { parseConversation } from "../../helpers/notation.ts";

const list = (notation: string, provider: ProviderName): readonly unknown[] =>
  toNaiveList(projectTurns(parseConversation(notation), []), provider).map(({ value }) => value);

describe("toNaiveList", () => {
  it("repairs nothing for Anthropic: ids repeat, calls stay open, results answer nothing", () => {
    expect(list("U T | U A t", "anthropic")).toEqual([
      { role: "user", content: [{ type: "text", text: "ask e0.1" }] },
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "tool", input: { input: "in e0.2" } }] },
      { role: "user", content: [{ type: "text", text: "ask e1.1" }] },
      { role: "assistant", content: [{ type: "text", text: "say e1.2" }] },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "c0", content: "first line of e1.3\nsecond line of e1.3" }],
      },
    ]);
  });

  it("adds the results that agents add, after the answer that made the calls", () => {
    const waiting = (id: string, call_id: string, message_id: string): Event => ({
      type: "tool_call_request",
      id,
      timestamp: "2026-01-01T00:00:00Z",
      call_id,
      name: "bash",
      arguments: {},
      metadata: { message_id, unanswered: "Nothing came." },
    });
    const result: Event = {
      type: "tool_call_response",
      id: "r",
      timestamp: "2026-01-01T00:00:00Z",
      call_id: "1",
      content: "done",
      is_error: false,
    };
    const events = [waiting("a", "1", "m"), waiting("b", "2", "m"), result, waiting("c", "3", "n")];
    const view = { turns: [{ origin: { kind: "kept" as const, turn: 0 }, events }] };
    const blocks = toNaiveList(view, "anthropic").flatMap(({ value }) => value["content"] as Record<string, unknown>[]);
    expect(blocks.map((block) => block["content"] ?? block["id"])).toEqual([
      "1",
      "2",
      "done",
      "Nothing came.",
      "3",
      "Nothing came.",
    ]);
  });

  it("lays messages out as every agent does: neighbours joined, results before what the user said", () => {
    const roles = (provider: ProviderName): readonly unknown[] =>
      list("U R A T T Q t S t! A", provider).map((entry) => {
        const { role, type } = entry as { role?: string; type?: string };
        return type === undefined || type === "message" ? role : type;
      });
    expect(roles("anthropic")).toEqual(["user", "assistant", "user", "assistant"]);
    expect(roles("openai-chat")).toEqual(["user", "assistant", "tool", "tool", "user", "assistant"]);
    expect(roles("openai-responses")).toEqual([
      "user",
      "assistant",
      "function_call",
      "function_call",
      "function_call_output",
      "function_call_output",
      "user",
      "user",
      "assistant",
    ]);
    expect(roles("google")).toEqual(["user", "model", "user", "model"]);
  });

  it("names a result after its call for Google, and a stray one after its id", () => {
    const [, , answer] = list("U T:grep t t!", "google") as { parts: unknown[] }[];
    expect(answer?.parts).toEqual([
      { functionResponse: { name: "grep", response: { output: "first line of e0.3\nsecond line of e0.3" } } },
      { functionResponse: { name: "c0", response: { error: "first line of e0.4\nsecond line of e0.4" } } },
    ]);
  });

  it("keeps reasoning for Anthropic only, with the signature it has", () => {
    const thought = { type: "chat_response", id: "r", timestamp: "2026-01-01T00:00:00Z", reasoning: "hm" } as const;
    const view = (event: Event) => ({ turns: [{ origin: { kind: "kept" as const, turn: 0 }, events: [event] }] });
    expect(toNaiveList(view(thought), "anthropic")[0]?.value["content"]).toEqual([
      { type: "thinking", thinking: "hm" },
    ]);
    const signed = { ...thought, metadata: { provider: "anthropic", signature: "c2ln" } };
    expect(toNaiveList(view(signed), "anthropic")[0]?.value["content"]).toEqual([
      { type: "thinking", thinking: "hm", signature: "c2ln" },
    ]);
    for (const provider of PROVIDER_NAMES.slice(1)) expect(toNaiveList(view(signed), provider)).toEqual([]);
  });

  it.each(PROVIDER_NAMES)("knows the event of every block for %s", (provider) => {
    const notation = "U R A T T Q t S t! A | U D";
    const known = parseConversation(notation).flatMap(({ events }) => events.map(({ id }) => id));
    for (const { events } of toNaiveList(projectTurns(parseConversation(notation), []), provider)) {
      expect(events.length).toBeGreaterThan(0);
      expect(known).toEqual(expect.arrayContaining([...events]));
    }
  });
});
