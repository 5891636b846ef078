import { describe, expect, it } from "vitest";
import type { Event } from "../../../src/core/conversation/event.ts";
import { joinPrompts, splitPrompts } from "../../../src/core/model/thread.ts";
import { answer, kept, request, view } from "../../helpers/sample-view.ts";

const system = { ...request("s", "Be short."), role: "system" } as const;
const developer = { ...request("d", "Use tabs."), role: "developer" } as const;

describe("splitPrompts", () => {
  it("parts the system and developer requests before all messages from the rest", () => {
    const { prompts, rest } = splitPrompts(view(kept(0, system, developer, request("a", "hello"))));
    expect(prompts).toEqual([system, developer]);
    expect(rest).toEqual(view(kept(0, request("a", "hello"))));
  });

  it("finds them behind what is no message, in several turns, and keeps whatever else stands there", () => {
    const start = { type: "turn_start", id: "t", timestamp: "2026-01-01T00:00:00Z" } as const;
    const note = { type: "note", id: "n", timestamp: "2026-01-01T00:00:00Z", kind: "progress" } as const;
    const late = { ...system, id: "late" };
    const whole = view(kept(0, start, system, note), kept(1, start, developer, request("a", "hello"), late));
    const { prompts, rest } = splitPrompts(whole);
    expect(prompts).toEqual([system, developer]);
    expect(rest).toEqual(view(kept(0, start, note), kept(1, start, request("a", "hello"), late)));
  });

  it.each(["tool_call_request", "tool_call_response"] as const)("stops at a %s", (type) => {
    const call = { type, id: "c", timestamp: "2026-01-01T00:00:00Z", call_id: "c", name: "x", content: "" };
    const whole = view(kept(0, call as unknown as Event, system));
    expect(splitPrompts(whole)).toEqual({ prompts: [], rest: whole });
  });

  it("gives back the very view that has none", () => {
    const whole = view(kept(0, request("a", "hello")));
    expect(splitPrompts(whole).rest).toBe(whole);
  });

  it("leaves those alone that stand later or come from a harness", () => {
    const harness = { ...system, metadata: { origin: "harness" } } as const;
    for (const first of [harness, request("a", "hello"), answer("b", "hi")]) {
      const whole = view(kept(0, first, system));
      expect(splitPrompts(whole)).toEqual({ prompts: [], rest: whole });
    }
  });
});

describe("joinPrompts", () => {
  it("joins what says something, the system prompt first", () => {
    expect(joinPrompts("Be kind.", [system, developer])).toBe("Be kind.\n\nBe short.\n\nUse tabs.");
    expect(joinPrompts(undefined, [system])).toBe("Be short.");
    expect(joinPrompts(" \n", [{ ...system, content: "  " }, developer])).toBe("Use tabs.");
    expect(joinPrompts(" a ", [])).toBe(" a ");
    expect(joinPrompts(undefined, [])).toBe("");
  });
});
