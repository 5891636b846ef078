// Who wins an event and what is done to it.

import { describe, expect, it } from "vitest";
import type { Compaction, ToolCallPolicy } from "../../../src/core/conversation/compaction.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { resolveDispositions } from "../../../src/core/conversation/winner.ts";
import { makeCompaction, STRIP_TOOLS, summaryOf } from "../../helpers/make-compaction.ts";
import { parseConversation } from "../../helpers/notation.ts";

/** Dispositions as `event: compaction content action`. */
function dispositions(conversation: string, ...compactions: Compaction[]): readonly string[] {
  const resolved = resolveDispositions(parseConversation(conversation), compactions);
  return [...resolved].map(([id, { compaction, content, action }]) => {
    const what =
      typeof action === "string"
        ? action
        : "drop" in action
          ? `drop ${action.drop.max_chars}`
          : `truncate ${action.truncate.max_chars}`;
    return `${id}: ${compaction.id} ${content} ${what}`;
  });
}

function tools(policy: ToolCallPolicy, rest: Partial<Compaction> = {}): Compaction {
  return makeCompaction("m", [0, 9], { tool_calls: policy, ...rest });
}

describe("resolveDispositions", () => {
  it("says nothing about events on which nobody has an opinion", () => {
    expect(dispositions("U A", makeCompaction("m", [0, 0], { reasoning: "strip" }))).toEqual([]);
  });

  it("names the winner of every event of hidden turns, cut or whole", () => {
    const cut = makeCompaction("s", [0, 1], { to_event: "e1.1", ...summaryOf("S") });
    const hidden = ["e0.0", "e0.1", "e1.0", "e1.1"].map((id) => `${id}: s hiding hide`);
    expect([...dispositions("U | U A", cut)].sort()).toEqual(hidden);
  });

  it("names who keeps an event", () => {
    const keeping = makeCompaction("k", [0, 0], { keep: ["e0.1"] }, 2);
    expect(dispositions("U", keeping, makeCompaction("m", [0, 0], { attachments: "strip" }))).toEqual([
      "e0.1: k hiding keep",
    ]);
  });

  it("resolves each content type on its own", () => {
    const older = makeCompaction("a", [0, 0], { ...STRIP_TOOLS, reasoning: "strip" }, 1);
    expect(dispositions("R T t", older, tools({ policy: "truncate", max_chars: 5 }))).toEqual([
      "e0.1: a reasoning strip",
      "e0.2: m tool_request keep",
      "e0.3: m tool_response truncate 5",
    ]);
  });

  it("lets a hint replace its half of strip and truncate, both ways, the exact name before *", () => {
    const hints = { grep: { request: "keep" }, "*": { request: "strip", response: "keep" } } as const;
    const expected = [
      "e0.1: m tool_request keep",
      "e0.2: m tool_response strip",
      "e0.3: m tool_request strip",
      "e0.4: m tool_response keep",
    ];
    const strip = { policy: "strip", request: true, response: true } as const;
    expect(dispositions("T:grep t T t", tools(strip, { tool_overrides: hints }))).toEqual(expected);
    const truncated = dispositions(
      "T:grep t T t",
      tools({ policy: "truncate", max_chars: 5 }, { tool_overrides: hints }),
    );
    expect(truncated).toEqual(expected.with(1, "e0.2: m tool_response truncate 5"));
  });

  it("never lets a hint change omit, nor one of an inherited name", () => {
    const hint = { tool: { request: "keep", response: "keep" } } as const;
    expect(dispositions("T t", tools({ policy: "omit" }, { tool_overrides: hint }))).toEqual([
      "e0.1: m tool_request omit",
      "e0.2: m tool_response omit",
    ]);
    const strip = tools({ policy: "strip", request: true, response: false }, { tool_overrides: {} });
    expect(dispositions("T:constructor", strip)).toEqual(["e0.1: m tool_request strip"]);
  });

  it("has a selective opinion on the calls it names only, with `else` for the rest", () => {
    const older = makeCompaction("a", [0, 0], STRIP_TOOLS, 0);
    const calls = [{ event: "e0.1", response: "keep" }] as const;
    const named = tools({ policy: "selective", calls });
    expect(dispositions("T t T t", named, older)).toEqual([
      "e0.1: a tool_request strip",
      "e0.2: m tool_response keep",
      "e0.3: a tool_request strip",
      "e0.4: a tool_response strip",
    ]);
    expect(dispositions("T t T t", tools({ policy: "selective", calls, else: { policy: "omit" } }))).toEqual([
      "e0.2: m tool_response keep",
      "e0.3: m tool_request omit",
      "e0.4: m tool_response omit",
    ]);
  });

  it("omits both halves of a call of which one is named so, and leaves hints out of named calls", () => {
    const calls = [
      { event: "e0.1", response: "omit" },
      { event: "e0.3", request: "keep", response: { truncate: { max_chars: 3 } } },
    ] as const;
    const named = tools({ policy: "selective", calls }, { tool_overrides: { "*": { response: "strip" } } });
    expect(dispositions("T t T t", named)).toEqual([
      "e0.1: m tool_request omit",
      "e0.2: m tool_response omit",
      "e0.3: m tool_request keep",
      "e0.4: m tool_response truncate 3",
    ]);
  });

  it("names each event of several hidden turns that can be hidden, and none besides", () => {
    const [first, ...rest] = parseConversation("U N | U A | U");
    const delta: Event = { type: "config_delta", id: "delta", timestamp: "2026-01-01T00:00:00Z", delta: {} };
    const turns = [{ index: 0, events: [...(first?.events ?? []), delta] }, ...rest];
    const resolved = resolveDispositions(turns, [makeCompaction("s", [0, 1], summaryOf("S"))]);
    expect([...resolved.keys()]).toEqual(["e0.0", "e0.1", "e0.2", "e1.0", "e1.1", "e1.2"]);
  });

  it("says nothing of what can neither be hidden nor is kept, and nothing of what is not covered", () => {
    const [turn] = parseConversation("U A R A");
    const delta: Event = { type: "config_delta", id: "delta", timestamp: "2026-01-01T00:00:00Z", delta: {} };
    const events = [...turn!.events.slice(0, 2), delta, ...turn!.events.slice(2)];
    const cut = makeCompaction("s", [0, 0], { to_event: "e0.2", ...summaryOf("S") });
    const strip = makeCompaction("m", [0, 0], { from_event: "e0.4", reasoning: "strip" }, 2);
    const resolved = resolveDispositions([{ index: 0, events }], [cut, strip]);
    expect([...resolved.keys()]).toEqual(["e0.0", "e0.1", "e0.2"]);
    const kept = makeCompaction("k", [0, 0], { keep: ["delta"], ...summaryOf("S") });
    expect(resolveDispositions([{ index: 0, events }], [kept]).get("delta")).toEqual({
      compaction: kept,
      content: "hiding",
      action: "keep",
    });
  });

  it("says of requests that their attachments are stripped", () => {
    expect(dispositions("U A", makeCompaction("m", [0, 0], { attachments: "strip" }))).toEqual([
      "e0.1: m attachments strip",
    ]);
  });

  it("knows the call of a late result, and hides the result with it", () => {
    const late = parseConversation("U T:grep A | U t A").map(({ index, events }) => ({
      index,
      events: events.map((event) => (event.type === "tool_call_response" ? { ...event, call_id: "c1" } : event)),
    }));
    const strip = { policy: "strip", request: false, response: true } as const;
    const stripped = tools(strip, { tool_overrides: { grep: { response: "keep" } } });
    const result = (...compactions: Compaction[]) => resolveDispositions(late, compactions).get("e1.2")?.action;
    expect(result(stripped)).toBe("keep");
    expect(result(stripped, makeCompaction("r", [0, 1], { reasoning: "strip" }))).toBe("keep");
    expect(result(stripped, makeCompaction("s", [0, 0], { to_event: "e0.2", ...summaryOf("S") }))).toBe("hide");
  });
});
