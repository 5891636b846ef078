import { describe, expect, it } from "vitest";
import type { Event } from "../../../src/core/conversation/event.ts";
import {
  type CallPlan,
  formatReminder,
  joinPrompts,
  planProviderCalls,
  splitPrompts,
  unusedId,
} from "../../../src/core/model/thread.ts";
import { parseConversation } from "../../helpers/notation.ts";
import { answer, kept, request, view } from "../../helpers/sample-view.ts";

/**
 * The plan of a conversation in notation. `messages` names the message of events by their ids; a call is given its call id,
 * with the first number after it that makes it unused.
 */
function planOf(
  notation: string,
  answers: "newest" | "all",
  messages: Readonly<Record<string, string>> = {},
): CallPlan {
  const named = (event: Event): Event => {
    const message_id = messages[event.id];
    return message_id === undefined ? event : { ...event, metadata: { message_id } };
  };
  const turns = parseConversation(notation).map(({ index, events }) => ({
    origin: { kind: "kept", turn: index } as const,
    events: events.map(named),
  }));
  return planProviderCalls(
    { turns },
    {
      answers,
      rules: { unanswered: "one", unasked: "two", repeated: "three" },
      assignId: ({ call_id }, isUsed) => {
        const id = unusedId(call_id, 9, isUsed);
        return { id, rules: id === call_id ? [] : ["four", "five"] };
      },
    },
  );
}

/** Results by call, in the order of the plan, ids of events; `null` = a synthetic one. */
const resultsOf = ({ results }: CallPlan) => [...results].map(([call, result]) => [call.id, result?.id ?? null]);

describe("the calls that are sent", () => {
  it("have their own result each, in the order of the calls", () => {
    const plan = planOf("U T T t t | U T t A", "newest");
    expect(resultsOf(plan)).toEqual([
      ["e0.2", "e0.4"],
      ["e0.3", "e0.5"],
      ["e1.2", "e1.3"],
    ]);
    expect([...plan.calls].map(([result, call]) => [result.id, call.id])).toEqual([
      ["e0.4", "e0.2"],
      ["e0.5", "e0.3"],
      ["e1.3", "e1.2"],
    ]);
    expect([...plan.order].map(([result, position]) => [result.id, position])).toEqual([
      ["e0.4", 0],
      ["e0.5", 1],
      ["e1.3", 2],
    ]);
  });

  it("have ids of which each is used once, and every rule that changed one is listed", () => {
    const plan = planOf("U T t | U T t | U T t", "all");
    expect([...plan.ids].map(([call, id]) => [call.id, id])).toEqual([
      ["e0.2", "c1"],
      ["e1.2", "c1_2"],
      ["e2.2", "c1_3"],
    ]);
    expect(plan.hardening).toEqual(
      ["e1.2", "e2.2"].flatMap((event) => ["four", "five"].map((rule) => ({ rule, event, action: "changed" }))),
    );
  });

  it("leave out results that nobody asked for, and further ones of a call", () => {
    const plan = planOf("U t T t | U A", "all", {});
    const twice = planOf("U T t | U t", "all");
    expect(plan.hardening).toEqual([{ rule: "two", event: "e0.2", action: "dropped" }]);
    expect(resultsOf(plan)).toEqual([["e0.3", "e0.4"]]);
    expect(twice.hardening).toEqual([{ rule: "two", event: "e1.2", action: "dropped" }]);
  });

  it("list a second result of an answered call as repeated", () => {
    const [turn] = parseConversation("U T t");
    const events = turn?.events ?? [];
    const again = events.flatMap((event): Event[] =>
      event.type === "tool_call_response" ? [{ ...event, id: "again" }] : [],
    );
    const { hardening } = planProviderCalls(
      { turns: [{ origin: { kind: "kept", turn: 0 }, events: [...events, ...again] }] },
      {
        answers: "all",
        rules: { unanswered: "one", unasked: "two", repeated: "three" },
        assignId: ({ call_id }) => ({ id: call_id, rules: [] }),
      },
    );
    expect(hardening).toEqual([{ rule: "three", event: "again", action: "dropped" }]);
  });
});

describe("a call without a result", () => {
  it("is answered wherever it is when all are to be", () => {
    expect(resultsOf(planOf("U T A | U T A", "all"))).toEqual([
      ["e0.2", null],
      ["e1.2", null],
    ]);
  });

  it.each<[string, string, Record<string, string>, string[], string[]]>([
    ["is the newest thing", "U T A | U T", {}, ["e1.2"], ["e0.2"]],
    ["is followed by the user only", "U T | U", {}, ["e0.2"], []],
    ["is followed by a note only", "U T N", { "e0.2": "m1" }, ["e0.2"], []],
    ["has an answer after it in its message", "U T A", { "e0.2": "m1", "e0.3": "m1" }, ["e0.2"], []],
    ["has an answer of another message after it", "U T A", { "e0.2": "m1", "e0.3": "m2" }, [], ["e0.2"]],
    ["has a call of another message after it", "U T T", { "e0.2": "m1", "e0.3": "m2" }, ["e0.3"], ["e0.2"]],
    ["stands before a message without id", "U T A", { "e0.2": "m1" }, [], ["e0.2"]],
    ["has its message go on behind a request", "U T Q A", {}, [], ["e0.2"]],
  ])("is answered in the newest message alone: one that %s", (_name, notation, messages, kept, dropped) => {
    const plan = planOf(notation, "newest", messages);
    expect(resultsOf(plan)).toEqual(kept.map((id) => [id, null]));
    expect(plan.hardening).toEqual(dropped.map((event) => ({ rule: "one", event, action: "dropped" })));
  });

  it("is answered where the result of another call is inside its message", () => {
    const message = { "e0.2": "m1", "e0.3": "m1", "e0.5": "m1" };
    expect(resultsOf(planOf("U T T t T", "newest", message))).toEqual([
      ["e0.2", "e0.4"],
      ["e0.3", null],
      ["e0.5", null],
    ]);
  });
});

describe("unusedId", () => {
  const given = (id: string, max: number, ...used: readonly string[]) =>
    unusedId(id, max, (each) => used.includes(each));

  it("gives the id itself, or the first number that makes it unused", () => {
    expect(given("a", 9)).toBe("a");
    expect(given("a", 9, "a")).toBe("a_2");
    expect(given("a", 9, "a", "a_2", "a_3", "a_5")).toBe("a_4");
  });

  it("never gets longer than it may", () => {
    const numbers = Array.from({ length: 8 }, (_, at) => `abc_${at + 2}`);
    expect(given("abcde", 5, "abcde")).toBe("abc_2");
    expect(given("abcde", 5, "abcde", ...numbers)).toBe("ab_10");
    expect(given("abc", 5, "abc")).toBe("abc_2");
  });
});

const system = { ...request("s", "Be short."), role: "system" } as const;
const developer = { ...request("d", "Use tabs."), role: "developer" } as const;

describe("splitPrompts", () => {
  it("parts the system and developer requests before all messages from the rest", () => {
    const { prompts, rest } = splitPrompts(view(kept(0, system, developer, request("a", "hello"))));
    expect(prompts).toEqual([system, developer]);
    expect(rest).toEqual(view(kept(0, request("a", "hello"))));
  });

  it("finds them after what is no message, in several turns, and keeps everything else there", () => {
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

  it("leaves later ones alone, and those of a harness", () => {
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

describe("formatReminder", () => {
  it("puts a text between the marks of a reminder", () => {
    expect(formatReminder("Lint found 2 problems.")).toBe(
      "<system-reminder>\nLint found 2 problems.\n</system-reminder>",
    );
  });

  it("gives a text back that has the marks already", () => {
    const text = "\n<system-reminder>\nToday is Monday.\n</system-reminder>";
    expect(formatReminder(text)).toBe(text);
  });
});
