import { describe, expect, it } from "vitest";
import { describeRestored, effectOf, type PlanEffect } from "../../../src/core/compact/plan-effect.ts";
import type { CallPolicy, Compaction, StubStyle } from "../../../src/core/conversation/compaction.ts";
import type { Content, Turn } from "../../../src/core/conversation/event.ts";
import { project } from "../../../src/core/conversation/projection.ts";
import type { CallPairs } from "../../../src/core/conversation/tool-pairing.ts";
import { makeCompaction, STRIP_TOOLS } from "../../helpers/make-compaction.ts";
import { parseConversation } from "../../helpers/notation.ts";

const turns = parseConversation("U R T t A | U R T t A S | U A");
const whole = { from: 0, fromIndex: 0, to: 1, toIndex: Number.POSITIVE_INFINITY };

function draft(more: Partial<Compaction>): Compaction {
  return { type: "compaction", id: "~", timestamp: "9999-12-31T23:59:59Z", from_turn: 0, to_turn: 1, ...more };
}

function effect(
  more: Partial<Compaction>,
  compactions: readonly Compaction[] = [],
  list: readonly Turn[] = turns,
): PlanEffect {
  const facts = { turnCount: list.length, turns: new Map(list.map((turn) => [turn.index, turn])), compactions };
  return effectOf(draft(more), whole, facts);
}

/** One turn with one call, `c`, and its result. */
function callOf(args: unknown, content: Content): readonly Turn[] {
  const common = { timestamp: "t", call_id: "1" };
  return [
    {
      index: 0,
      events: [
        { type: "tool_call_request", id: "c", ...common, name: "tool", arguments: args },
        { type: "tool_call_response", id: "r", ...common, content, is_error: false },
      ],
    },
  ];
}

describe("effectOf", () => {
  it("counts what is left out and the messages of the range", () => {
    expect(effect({ reasoning: "strip" })).toEqual({ changes: true, removed: 2, messages: 4 });
    expect(effect({ tool_calls: { policy: "omit" } })).toEqual({ changes: true, removed: 4, messages: 4 });
    expect(effect({ turns: "omit" })).toEqual({ changes: true, removed: 11, messages: 4 });
  });

  it("leaves kept events out of what goes", () => {
    expect(effect({ summary: { summary: "s" }, keep: ["e0.1"] }).removed).toBe(10);
  });

  it("sees a change under a live summary", () => {
    const hidden = [{ ...draft({ summary: { summary: "s" } }), timestamp: "2026-02-01T00:00:00Z" }];
    expect(effect({ reasoning: "strip" }, hidden).changes).toBe(true);
  });

  it("does not see a result whose call is under a summary, although an older call of its id is shown", () => {
    const list: readonly Turn[] = ["read", "learn"].map((name, index) => ({
      index,
      events: [{ type: "tool_call_request", id: name, timestamp: "t", call_id: "1", name, arguments: {} }],
    }));
    const answer = {
      type: "tool_call_response",
      timestamp: "t",
      call_id: "1",
      content: "done",
      is_error: false,
    } as const;
    const all = [...list, { index: 2, events: [{ ...answer, id: "r" }] }];
    const facts = { turnCount: 3, turns: new Map(all.map((turn) => [turn.index, turn])) };
    const range = { ...whole, to: 2 };
    const strip = draft({
      to_turn: 2,
      tool_calls: { policy: "selective", calls: [{ event: "read", response: "strip" }] },
    });
    expect(effectOf(strip, range, { ...facts, compactions: [] }).changes).toBe(false);
    const summary: Compaction = {
      ...draft({ from_turn: 1, summary: { summary: "s" } }),
      timestamp: "2026-02-01T00:00:00Z",
    };
    expect(effectOf(strip, range, { ...facts, compactions: [summary] }).changes).toBe(false);
    expect(effectOf(strip, { ...range, to: 1 }, { ...facts, compactions: [summary] }).changes).toBe(false);
  });

  it("sees what a summary left by name although an older compaction had it already", () => {
    const older = { ...draft({ reasoning: "strip" }), timestamp: "2026-02-01T00:00:00Z" };
    const reasoning = turns[0]?.events.find((event) => event.type === "chat_response")?.id ?? "";
    const summary = { ...draft({ summary: { summary: "s" }, keep: [reasoning] }), timestamp: "2026-02-02T00:00:00Z" };
    expect(effect({ reasoning: "strip" }, [older]).changes).toBe(false);
    expect(effect({ reasoning: "strip" }, [older, summary]).changes).toBe(true);
  });

  it("sees no change where the same is in force already", () => {
    const before = [
      { ...draft({ tool_calls: { policy: "truncate", max_chars: 5 } }), timestamp: "2026-02-01T00:00:00Z" },
    ];
    expect(effect({ tool_calls: { policy: "truncate", max_chars: 5 } }, before).changes).toBe(false);
    expect(effect({ tool_calls: { policy: "truncate", max_chars: 6 } }, before).changes).toBe(true);
  });

  it("sees attachments only where there are some", () => {
    const image = {
      type: "chat_request",
      id: "i",
      timestamp: "t",
      content: [{ type: "image", data: "AAAA" }],
    } as const;
    expect(effect({ attachments: "strip" }).changes).toBe(false);
    expect(
      effect(
        { attachments: "strip" },
        [],
        [
          { index: 0, events: [image] },
          { index: 1, events: [] },
        ],
      ).changes,
    ).toBe(true);
  });

  it("takes arguments that are empty already for stripped", () => {
    const call = {
      type: "tool_call_request",
      id: "c",
      timestamp: "t",
      call_id: "1",
      name: "now",
      arguments: {},
    } as const;
    const list = [
      { index: 0, events: [call] },
      { index: 1, events: [] },
    ];
    expect(effect({ tool_calls: { policy: "strip", request: true, response: true } }, [], list).changes).toBe(false);
  });

  it("counts only the events inside the cut ends of the range", () => {
    const facts = { turnCount: 3, turns: new Map(turns.map((turn) => [turn.index, turn])), compactions: [] };
    const cut = { from: 0, fromIndex: 3, to: 1, toIndex: 2 };
    const omitted = draft({ turns: "omit" });
    expect(effectOf(omitted, cut, facts)).toEqual({ changes: true, removed: 5, messages: 2 });
    const stripped = effectOf(draft({ reasoning: "strip" }), cut, facts);
    expect(stripped).toEqual({ changes: true, removed: 1, messages: 2 });
    expect(effectOf(draft({ turns: "omit" }), { from: 2, fromIndex: 9, to: 2, toIndex: 9 }, facts).changes).toBe(false);
  });

  it("sees in each turn what is in force there", () => {
    const inForce = (from_turn: number, to_turn: number): Compaction => ({
      ...draft({ reasoning: "strip" }),
      timestamp: "2026-02-01T00:00:00Z",
      from_turn,
      to_turn,
    });
    expect(effect({ reasoning: "strip" }, [inForce(0, 0)]).changes).toBe(true);
    expect(effect({ reasoning: "strip" }, [inForce(1, 1)]).changes).toBe(true);
    expect(effect({ reasoning: "strip" }, [inForce(0, 0), inForce(1, 1)])).toMatchObject({
      changes: false,
      removed: 2,
    });
  });

  it("takes content that a newer compaction brings back for a change", () => {
    const before = [{ ...draft(STRIP_TOOLS), timestamp: "2026-02-01T00:00:00Z" }];
    const calls = [{ event: "e0.3", request: "keep", response: "keep" }] as const;
    expect(effect({ tool_calls: { policy: "selective", calls } }, before)).toMatchObject({ changes: true, removed: 0 });
    expect(effect({ tool_calls: { policy: "selective", calls } }).changes).toBe(false);
  });

  it("sees no change in a result that is short enough, however it is written", () => {
    const max_chars = "first line of e0.4\nsecond line of e0.4".length;
    const truncate = { policy: "truncate", max_chars } as const;
    expect(effect({ tool_calls: truncate }).changes).toBe(false);
    const parts = callOf({}, [{ type: "text", text: "a long text ".repeat(20) }]);
    expect(effect({ tool_calls: truncate }, [], parts).changes).toBe(true);
    expect(effect({ tool_calls: truncate }, [], callOf({}, "a long text ".repeat(20))).changes).toBe(true);
  });

  it("distinguishes two ways to shorten a text", () => {
    const list = callOf({ body: "long ".repeat(90) }, "long ".repeat(90));
    const ways: readonly CallPolicy[] = [
      "strip",
      { truncate: { max_chars: 50 } },
      { truncate: { max_chars: 60 } },
      { truncate: { max_chars: 50, head: 1 } },
    ];
    const named = (half: "request" | "response", policy: CallPolicy): Partial<Compaction> => ({
      tool_calls: { policy: "selective", calls: [{ event: "c", [half]: policy }] },
    });
    for (const half of ["request", "response"] as const) {
      for (const [i, way] of ways.entries()) {
        const before = [{ ...draft(named(half, way)), timestamp: "2026-02-01T00:00:00Z" }];
        for (const [j, other] of ways.entries()) {
          expect(effect(named(half, other), before, list).changes, `${half} ${i} then ${j}`).toBe(i !== j);
        }
      }
    }
  });

  it("sees arguments only where one is longer than what may stay", () => {
    const list = callOf({ body: "x".repeat(300), path: "a" }, "done");
    const request = (policy: CallPolicy): Partial<Compaction> => ({
      tool_calls: { policy: "selective", calls: [{ event: "c", request: policy }] },
    });
    const inForce = (policy: CallPolicy) => [{ ...draft(request(policy)), timestamp: "2026-02-01T00:00:00Z" }];
    expect(effect(request({ drop: { max_chars: 299 } }), [], list).changes).toBe(true);
    expect(effect(request({ drop: { max_chars: 300 } }), [], list).changes).toBe(false);
    expect(effect(request({ truncate: { max_chars: 299 } }), [], list).changes).toBe(false);
    expect(effect(request({ truncate: { max_chars: 20 } }), [], list).changes).toBe(true);
    expect(effect(request({ drop: { max_chars: 9 } }), inForce({ drop: { max_chars: 99 } }), list).changes).toBe(true);
    expect(effect(request({ drop: { max_chars: 99 } }), inForce({ drop: { max_chars: 99 } }), list).changes).toBe(
      false,
    );
    expect(effect({ ...STRIP_TOOLS }, [], callOf(null, "done")).changes).toBe(true);
  });

  it("sees nothing in a result that is named for what only arguments can be", () => {
    const response: Partial<Compaction> = {
      tool_calls: { policy: "selective", calls: [{ event: "c", response: { drop: { max_chars: 9 } } }] },
    };
    expect(effect(response, [], callOf({}, "a long text ".repeat(20)))).toEqual({
      changes: false,
      removed: 0,
      messages: 0,
    });
  });

  it("takes the pairs it is given, and works them out when there are none", () => {
    const list = callOf({ a: 1 }, "done");
    const [request, response] = list[0]?.events ?? [];
    if (request?.type !== "tool_call_request" || response?.type !== "tool_call_response") throw new Error("no call");
    const facts = { turnCount: 1, turns: new Map(list.map((turn) => [turn.index, turn])), compactions: [] };
    const stripped = draft({
      tool_calls: { policy: "selective", calls: [{ event: "c", response: "strip" }] },
    });
    const changesWith = (pairs: CallPairs | undefined) => effectOf(stripped, whole, { ...facts, pairs }).changes;
    expect(changesWith(undefined)).toBe(true);
    expect(changesWith(new Map([[response, request]]))).toBe(true);
    expect(changesWith(new Map())).toBe(false);
  });

  it("sees a change in how stubs are written", () => {
    const styles: readonly (StubStyle | undefined)[] = [
      undefined,
      { pointers: true },
      { first_line: true },
      { pointers: true, first_line: true },
    ];
    const strip = (stubs: StubStyle | undefined): Partial<Compaction> => ({
      tool_calls: { policy: "strip", request: false, response: true },
      ...(stubs === undefined ? {} : { stubs }),
    });
    for (const before of styles) {
      for (const after of styles) {
        const inForce = [{ ...draft(strip(before)), timestamp: "2026-02-01T00:00:00Z" }];
        expect(effect(strip(after), inForce).changes).toBe(before !== after);
      }
    }
  });

  it("sees heads of arguments only where arguments are stripped, too", () => {
    const strip = (request: boolean, stubs: StubStyle): Partial<Compaction> => ({
      tool_calls: { policy: "strip", request, response: true },
      stubs,
    });
    for (const request of [true, false]) {
      const inForce = [{ ...draft(strip(request, {})), timestamp: "2026-02-01T00:00:00Z" }];
      expect(effect(strip(request, { heads: true }), inForce).changes).toBe(request);
    }
  });

  it.each(["image", "document", "attachment"])("strips a part that is a %s, and no text", (type) => {
    const pictured = (kind: string): readonly Turn[] => [
      {
        index: 0,
        events: [
          { type: "chat_request", id: "i", timestamp: "t", content: [{ type: "text", text: "see" }, { type: kind }] },
        ],
      } as unknown as Turn,
    ];
    expect(effect({ attachments: "strip" }, [], pictured(type)).changes).toBe(true);
    expect(effect({ attachments: "strip" }, [], pictured("text")).changes).toBe(false);
    expect(effect({ attachments: "strip" }, [], pictured(type)).removed).toBe(0);
  });
});

// What a newer policy for calls gives back.

const list = parseConversation("U T:read t T:grep t A | U T:read t A");
const turnsBack = new Map(list.map((turn) => [turn.index, turn]));
const REQUESTS = { tool_calls: { policy: "strip", request: true, response: false } } as const;
const RESPONSES = { tool_calls: { policy: "strip", request: false, response: true } } as const;
const OMIT = { tool_calls: { policy: "omit" } } as const;

function given(older: readonly Partial<Compaction>[], newer: Partial<Compaction>): string | null {
  const compactions = older.map((fields, at) => makeCompaction(`c${at}`, [0, 1], fields, at + 1));
  const compaction = makeCompaction("new", [0, 1], newer, 9);
  const viewOf = (all: readonly Compaction[]) => project({ turnCount: 2, turns: turnsBack, compactions: all });
  const [before, after] = [viewOf(compactions), viewOf([...compactions, compaction])];
  return describeRestored(compaction, { turns: turnsBack, compactions, before, after });
}

const RULE = ": for tool calls only the newest policy counts";

describe("describeRestored", () => {
  it("counts the halves that a newer policy leaves alone", () => {
    expect(given([REQUESTS], RESPONSES)).toBe(`the arguments of 3 calls${RULE}`);
    expect(given([RESPONSES], REQUESTS)).toBe(`the results of 3 calls${RULE}`);
    expect(given([STRIP_TOOLS], { tool_calls: { ...REQUESTS.tool_calls, request: false } })).toBe(
      `the arguments of 3 calls and the results of 3 calls${RULE}`,
    );
    expect(given([OMIT], RESPONSES)).toBe(`the arguments of 3 calls and the results of 3 calls${RULE}`);
  });

  it("is nothing where a newer policy takes more, or speaks of something else", () => {
    for (const newer of [
      STRIP_TOOLS,
      OMIT,
      { reasoning: "strip" },
      { summary: { summary: "s" } },
      { turns: "omit" },
    ] as const)
      expect(given([REQUESTS], newer)).toBeNull();
    expect(given([], RESPONSES)).toBeNull();
    expect(given([{ reasoning: "strip" }], RESPONSES)).toBeNull();
  });

  it("leaves out what is kept by name", () => {
    const [first] = list[0]?.events.filter(({ type }) => type === "tool_call_request") ?? [];
    expect(given([REQUESTS], { ...RESPONSES, keep: [first?.id ?? ""] })).toBe(`the arguments of 2 calls${RULE}`);
  });
});
