import { describe, expect, it } from "vitest";
import { freezeHints, type PlanInput } from "../../../src/core/compact/plan.ts";
import type { ToolCompactionHints } from "../../../src/core/compact/tool-hints.ts";
import { isNothing, type Nothing } from "../../../src/core/conversation/bound-resolution.ts";
import type { Compaction, ToolCallPolicy, UniformToolCallPolicy } from "../../../src/core/conversation/compaction.ts";
import { parseBound } from "../../../src/core/conversation/range-bound.ts";
import { parseConversation } from "../../helpers/notation.ts";
import { ask, DEFAULT, live, planned, STRIP, SUMMARIZE } from "../../helpers/plan-request.ts";

const five = "U R A | U R T t A | U A | U R T:grep t! A | U R A";

describe("the planned compaction", () => {
  it("has the profile's policies and the resolved range", () => {
    const { compaction } = planned(five, { range: { keep: 1 }, profile: "default" });
    expect(compaction).toEqual({
      type: "compaction",
      from_turn: 0,
      to_turn: 3,
      reasoning: "strip",
      tool_calls: STRIP,
      profile: "default",
      source: "manual",
      stats: { original_message_count: 8, events_removed: 3 },
    });
  });

  it("names the last event it covers when it reaches the newest turn", () => {
    expect(planned(five).compaction).toMatchObject({ from_turn: 0, to_turn: 4, to_event: "e4.3" });
    expect(planned(five, { range: { keep: 1 } }).compaction.to_event).toBeUndefined();
  });

  it("names the compactions in force, oldest first", () => {
    const compactions = [
      live(0, 1, { id: "b", timestamp: "2026-02-02T00:00:00Z", attachments: "strip" }),
      live(0, 1, { id: "a", attachments: "strip" }),
    ];
    expect(planned(five, { compactions }).compaction.basis).toEqual(["a", "b"]);
  });

  it("keeps only events that are in the range, each once", () => {
    const plan = planned(five, { range: { keep: 1 }, keep: ["e1.2", "e4.1", "e1.2", "nowhere"] });
    expect(plan.compaction.keep).toEqual(["e1.2"]);
  });

  it("ends before an unfinished tool loop", () => {
    const range = { keepLast: 0 };
    expect(planned("U R A | U R T t", { range }).compaction).toMatchObject({ to_turn: 1, to_event: "e1.1" });
    expect(planned("U R A | U R T t", { policies: { turns: "omit" } }).compaction).toMatchObject({ to_turn: 0 });
    expect(ask("U R T t", { policies: SUMMARIZE })).toMatchObject({
      nothing: expect.stringMatching(/^turn 0 is not finished/),
    });
  });
});

describe("hints", () => {
  const hints = {
    grep: { response: "keep" },
    read: { request: "keep" },
    unused: { request: "strip" },
    none: {},
  } as const;

  it("are frozen only for tools that occur in the range", () => {
    const plan = planned("U T:read t A | U T:grep t A | U T:none t A", { hints, range: { to: parseBound("0") } });
    expect(plan.compaction.tool_overrides).toEqual({ read: { request: "keep" } });
  });

  it("for all other tools are frozen by the names of those that occur, field by field", () => {
    const all = { grep: { response: "strip" }, read: { request: "strip" }, "*": { request: "keep" } } as const;
    const overrides = (notation: string) => planned(notation, { hints: all }).compaction.tool_overrides;
    expect(overrides("U T:grep t A")).toEqual({ grep: { request: "keep", response: "strip" } });
    expect(overrides("U T:other t T:read t A")).toEqual({ other: { request: "keep" }, read: { request: "strip" } });
  });

  it("to remove a result leave the whole call out, by name, where results are stripped", () => {
    const remove = { grep: { response: "remove" } } as const;
    const notation = "U T:grep t T:read t A | U T:grep t A";
    const plan = planned(notation, { hints: remove, range: { to: parseBound("0") } });
    expect(plan.compaction.tool_calls).toEqual({
      policy: "selective",
      calls: [{ event: "e0.2", request: "omit", response: "omit" }],
      else: { policy: "strip", request: true, response: true },
    });
    const requests = { tool_calls: { policy: "strip", request: true, response: false } } as const;
    expect(planned(notation, { hints: remove, policies: requests }).compaction.tool_calls).toEqual(requests.tool_calls);
  });

  it("have no say over omitted calls, summaries and other policies", () => {
    const notation = "U R T:grep t A";
    expect(planned(notation, { hints, policies: { tool_calls: { policy: "omit" } } }).compaction).not.toHaveProperty(
      "tool_overrides",
    );
    expect(planned(notation, { hints, policies: SUMMARIZE }).compaction).not.toHaveProperty("tool_overrides");
    expect(planned(notation, { hints, policies: { reasoning: "strip" } }).compaction).not.toHaveProperty(
      "tool_overrides",
    );
  });

  it("that keep everything leave nothing to compact", () => {
    expect(isNothing(ask("U T:grep t A", { hints: { grep: { request: "keep", response: "keep" } } }))).toBe(true);
  });
});

describe("nothing to compact", () => {
  const nothingIn = (range: string) => `turns ${range} hold nothing that these policies would change`;

  it.each<[string, string, Partial<PlanInput>, string]>([
    ["no turns", "", {}, "the conversation has no turns"],
    ["no reasoning to strip", "U A | U T t A", { policies: { reasoning: "strip" } }, nothingIn("0..1")],
    ["neither reasoning nor tools", "U A | U A", {}, nothingIn("0..1")],
    ["no attachments", "U A", { policies: { attachments: "strip" } }, nothingIn("0..0")],
    [
      "all results short enough",
      "U T t A",
      { policies: { tool_calls: { policy: "truncate", max_chars: 500 } } },
      nothingIn("0..0"),
    ],
    [
      "policies that do nothing",
      "U T t A",
      { policies: { tool_calls: { policy: "strip", request: false, response: false } } },
      nothingIn("0..0"),
    ],
    ["no policies", "U R A", { policies: {} }, nothingIn("0..0")],
    [
      "it has been done",
      "U R A",
      { policies: { reasoning: "strip" }, compactions: [live(0, 0, { reasoning: "strip" })] },
      "everything that may be removed is already compacted",
    ],
    [
      "an empty range",
      "U R A | U R A",
      { range: { from: parseBound("5") } },
      "the range begins after the last turn (1)",
    ],
    ["nothing that a model sees", "N", { policies: SUMMARIZE }, "nothing of turns 0..0 is sent to a model"],
  ])("is said when there is %s", (_name, notation, more, nothing) => {
    expect(ask(notation, more)).toMatchObject({ nothing });
  });

  const calls = (count: number) => `U ${"T t ".repeat(count)}`;
  it.each<[string, string, Partial<PlanInput>, string, string]>([
    ["turns that are left alone", "U A | U R A", { range: { keepLast: 1 } }, "in the newest turn,", "--keep 0"],
    ["turns that were asked for", "U A | U R A | U A", { range: { keep: 2 } }, "in the newest 2 turns,", "--keep 0"],
    ["calls of a short one", `${calls(9)}A`, { range: { keepLast: 3 } }, "in the newest 20 tool calls,", "--keep 0"],
    ["tokens", "U A | U R A", { range: { keepLast: 0, protectTokens: 9 } }, "newest 9 tokens", "protect="],
    ["an unfinished turn", `U A | ${calls(2)}`, { range: { keepLast: 0 } }, "turn, which is not finished", "--keep 0"],
    ["a pin", "U R A", { keep: ["e0.2"] }, "is pinned", "jpg pin"],
    ["hints", "U T t A", { hints: { "*": { request: "keep", response: "keep" } } }, "by the hints", "-c tools"],
    [
      "an older compaction",
      "U R A | U A",
      { range: { from: parseBound("last"), keepLast: 1 }, compactions: [live(0, 0, { reasoning: "strip" })] },
      "is already compacted",
      "jpg log",
    ],
    [
      "an older compaction, with which the range ends",
      "U R A | U R A",
      { range: { to: parseBound("last") }, compactions: [live(0, 0, { reasoning: "strip" })] },
      "is already compacted",
      "jpg log",
    ],
    [
      "one place for both bounds",
      "U R A | U R A",
      {
        range: { from: parseBound("last"), to: parseBound("last") },
        compactions: [live(0, 1, { reasoning: "strip" })],
      },
      "begins after the last compaction, with which it ends",
      "--to N",
    ],
    ["nothing at all", "U A", {}, "turns 0..0 hold nothing", "--profile heavy"],
    ["an unfinished turn, for a summary", calls(2), { policies: SUMMARIZE }, "turn 0 is not finished", "--keep 0"],
  ])("names %s as the cause, and says what to type", (_name, notation, more, cause, hint) => {
    const { nothing, hints } = ask(notation, more) as Nothing;
    expect(nothing).toContain(cause);
    expect(hints?.join(" ")).toContain(hint);
  });

  it("is said of a plan beneath a summary, unless its turns are named", () => {
    const compactions = [live(0, 1, { id: "s1", summary: { summary: "old" } })];
    const range = { keepLast: 1 };
    expect(ask("U R A | U R A | U A", { compactions, range })).toMatchObject({
      nothing: "everything that may be removed is already compacted",
    });
    expect(planned("U R A | U R A | U A", { compactions, range, evenIfHidden: true }).hiddenBy).toEqual(["s1"]);
    expect(planned("U R A | U R A | U A", { compactions, range: { to: parseBound("0") } }).hiddenBy).toEqual(["s1"]);
  });

  it("is not said when a part of it is new, or stronger", () => {
    const done = [live(0, 0, { reasoning: "strip", tool_calls: STRIP })];
    expect(isNothing(ask("U R T t A | U R A", { compactions: done }))).toBe(false);
    const omit: ToolCallPolicy = { policy: "omit" };
    expect(isNothing(ask("U R T t A", { compactions: done, policies: { tool_calls: omit } }))).toBe(false);
  });
});

describe("a summary", () => {
  const accepted = { summary: "what happened", source: "authored" } as const;

  it("is asked for when its text is not there", () => {
    const plan = planned(five, { policies: SUMMARIZE });
    expect(plan.summarize).toEqual({ policy: "summarize", model: "a/b" });
    expect(plan.compaction).not.toHaveProperty("summary");
    expect(plan.compaction.stats).toEqual({ original_message_count: 10, events_removed: 18 });
  });

  it("is the only policy when its text exists", () => {
    const plan = planned(five, { policies: { ...DEFAULT, ...SUMMARIZE }, summary: accepted });
    expect(plan.summarize).toBeUndefined();
    expect(plan.compaction).toMatchObject({ summary: accepted, from_turn: 0, to_turn: 4, to_event: "e4.3" });
    expect(plan.compaction).not.toHaveProperty("reasoning");
    expect(plan.compaction).not.toHaveProperty("tool_calls");
  });

  it("extends over summaries that it partly overlaps", () => {
    const compactions = [live(0, 2, { summary: { summary: "old" } })];
    const plan = planned(five, { policies: SUMMARIZE, compactions, range: { from: parseBound("2"), keep: 1 } });
    expect(plan.compaction).toMatchObject({ from_turn: 0, to_turn: 3 });
    expect(plan.extendedFrom).toEqual({ from: 2, to: 3 });
  });

  it("follows on a summary that ended inside a turn without touching it", () => {
    const compactions = [live(0, 3, { to_event: "e3.1", summary: { summary: "old" } })];
    const plan = planned(five, { policies: SUMMARIZE, compactions, range: { from: parseBound("last"), keep: 0 } });
    expect(plan.compaction).toMatchObject({ from_turn: 3, from_event: "e3.2", to_turn: 4 });
    expect(plan).not.toHaveProperty("extendedFrom");
  });

  it.each<[string, { readonly from?: string; readonly to?: string }, Compaction[], object, object]>([
    [
      "at its first event only",
      { from: "1:e1.3", to: "3" },
      [live(1, 1, { to_event: "e1.4", summary: { summary: "old" } })],
      { from: 1, fromEvent: "e1.3", to: 3 },
      { from_turn: 1, to_turn: 3 },
    ],
    [
      "at its first turn only",
      { from: "2", to: "3" },
      [live(1, 2, { replacement: [] })],
      { from: 2, to: 3 },
      { from_turn: 1, to_turn: 3 },
    ],
    [
      "at its last turn only",
      { from: "1", to: "2" },
      [live(2, 3, { summary: { summary: "old" } })],
      { from: 1, to: 2 },
      { from_turn: 1, to_turn: 3 },
    ],
    [
      "at its last event only",
      { from: "0", to: "1:e1.4" },
      [live(1, 1, { from_event: "e1.2", summary: { summary: "old" } })],
      { from: 0, to: 1, toEvent: "e1.4" },
      { from_turn: 0, to_turn: 1 },
    ],
  ])("says what it was extended from %s", (_where, { from = "0", to = "4" }, compactions, extendedFrom, ends) => {
    const range = { from: parseBound(from), to: parseBound(to) };
    const plan = planned(five, { policies: SUMMARIZE, compactions, range });
    expect(plan.extendedFrom).toEqual(extendedFrom);
    const { from_turn, to_turn, from_event, to_event } = plan.compaction;
    expect({ from_turn, to_turn, from_event, to_event }).toEqual({
      ...ends,
      from_event: undefined,
      to_event: undefined,
    });
  });
});

describe("a mechanical plan inside a live summary", () => {
  it("is allowed and says which summary hides it", () => {
    const compactions = [live(0, 2, { id: "s1", summary: { summary: "old" } })];
    const plan = planned(five, { compactions, range: { to: parseBound("1") } });
    expect(plan.hiddenBy).toEqual(["s1"]);
  });

  it("says nothing when some of it is shown", () => {
    const compactions = [live(0, 2, { id: "s1", summary: { summary: "old" } })];
    expect(planned(five, { compactions, range: { to: parseBound("3") } }).hiddenBy).toEqual([]);
    const keeping = [live(0, 2, { id: "s1", summary: { summary: "old" }, keep: ["e1.2"] })];
    expect(planned(five, { compactions: keeping, range: { to: parseBound("1") } }).hiddenBy).toEqual([]);
  });

  it("is not reported for a plan that hides whole events itself", () => {
    const compactions = [live(0, 2, { id: "s1", summary: { summary: "old" } })];
    const range = { to: parseBound("1") };
    for (const policies of [SUMMARIZE, { turns: "omit" } as const]) {
      expect(planned(five, { compactions, range, policies }).hiddenBy).toEqual([]);
    }
  });

  it("names all that hide it together, oldest first, also where one ends inside a turn", () => {
    const compactions = [
      live(1, 3, { id: "s2", from_event: "e1.3", summary: { summary: "b" }, timestamp: "2026-02-02T00:00:00Z" }),
      live(0, 1, { id: "s1", to_event: "e1.2", summary: { summary: "a" } }),
    ];
    expect(planned(five, { compactions, range: { to: parseBound("3") } }).hiddenBy).toEqual(["s1", "s2"]);
  });
});

// What hints add to a policy when a compaction is made.

const turns = parseConversation("U T:zip t T:grep t A | U T:read t T:grep t A | U T:make t A");
const whole = { from: 0, fromIndex: 0, to: 2, toIndex: Number.POSITIVE_INFINITY };
const STRIP_HINTS = { policy: "strip", request: true, response: true } as const;
const OMIT_CALL = { request: "omit", response: "omit" } as const;

function freeze(hints: ToolCompactionHints | undefined, tool_calls?: UniformToolCallPolicy, range = whole): object {
  const policies = tool_calls === undefined ? { reasoning: "strip" as const } : { tool_calls };
  const known = new Map(turns.map((turn) => [turn.index, turn]));
  return freezeHints(range, { policies, turns: known, ...(hints === undefined ? {} : { hints }) });
}

describe("freezeHints", () => {
  const keepAll = { "*": { request: "keep", response: "keep" } } as const;
  const removeAll = { "*": { response: "remove" } } as const;

  it("adds nothing without hints, without a policy for calls, or where calls are omitted", () => {
    expect(freeze(undefined, STRIP_HINTS)).toEqual({});
    expect(freeze({}, STRIP_HINTS)).toEqual({});
    for (const hints of [keepAll, removeAll]) {
      expect(freeze(hints)).toEqual({});
      expect(freeze(hints, { policy: "omit" })).toEqual({});
    }
  });

  it("writes down each tool once, in order of names, with what is said of it", () => {
    const hints = { ...keepAll, grep: { request: "strip" }, unused: { response: "strip" } } as const;
    const { tool_overrides } = freeze(hints, STRIP_HINTS) as { readonly tool_overrides: object };
    expect(Object.entries(tool_overrides)).toEqual([
      ["grep", { request: "strip", response: "keep" }],
      ["make", { request: "keep", response: "keep" }],
      ["read", { request: "keep", response: "keep" }],
      ["zip", { request: "keep", response: "keep" }],
    ]);
  });

  it("looks only at calls in the range, its cut ends included", () => {
    const cut = { from: 0, fromIndex: 4, to: 1, toIndex: 3 };
    const { tool_overrides } = freeze(keepAll, STRIP_HINTS, cut) as { readonly tool_overrides: object };
    expect(Object.keys(tool_overrides)).toEqual(["grep", "read"]);
  });

  it("says nothing of tools whose hints are about something else", () => {
    expect(freeze({ grep: { dedup: false }, read: {} }, STRIP_HINTS)).toEqual({});
  });

  it("names the calls to remove, the rest as before, and keeps what else the hint says", () => {
    const hints = { grep: { response: "remove", request: "keep" }, read: { response: "keep" } } as const;
    expect(freeze(hints, STRIP_HINTS)).toEqual({
      tool_calls: {
        policy: "selective",
        calls: ["e0.4", "e1.4"].map((event) => ({ event, ...OMIT_CALL })),
        else: STRIP_HINTS,
      },
      tool_overrides: { grep: { request: "keep" }, read: { response: "keep" } },
    });
    expect(freeze({ grep: { response: "remove" } }, STRIP_HINTS)).not.toHaveProperty("tool_overrides");
  });

  it("says nothing of a half of which the policy says nothing, so that no hint strips it", () => {
    const hints = {
      grep: { request: "strip", response: "strip" },
      read: { request: "keep", response: "keep" },
    } as const;
    expect(freeze(hints, { policy: "strip", request: true, response: false })).toEqual({
      tool_overrides: { grep: { request: "strip" }, read: { request: "keep" } },
    });
    for (const policy of [
      { policy: "strip", request: false, response: true },
      { policy: "truncate", max_chars: 9 },
    ] as const)
      expect(freeze(hints, policy)).toEqual({
        tool_overrides: { grep: { response: "strip" }, read: { response: "keep" } },
      });
  });

  it.each<[string, ToolCallPolicy & UniformToolCallPolicy]>([
    ["only arguments are stripped", { policy: "strip", request: true, response: false }],
    ["results are truncated", { policy: "truncate", max_chars: 9 }],
  ])("removes nothing where %s", (_name, policy) => {
    expect(freeze(removeAll, policy)).toEqual({});
  });
});
