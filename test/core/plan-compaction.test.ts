import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isNothing } from "../../src/core/bound-resolution.ts";
import type { Compaction, ToolCallPolicy } from "../../src/core/compaction.ts";
import { traitsOf } from "../../src/core/event.ts";
import {
  type CompactionPlan,
  type CompactionRequest,
  planCompaction,
  planCompactionReading,
} from "../../src/core/plan-compaction.ts";
import type { Policies } from "../../src/core/policy.ts";
import { projectTurns } from "../../src/core/projection.ts";
import { parseBound } from "../../src/core/range-bound.ts";
import { unfinishedLoop } from "../../src/core/safe-cut.ts";
import { pairCalls } from "../../src/core/tool-pairing.ts";
import type { Turn } from "../../src/core/turn.ts";
import { parseConversation } from "../helpers/notation.ts";
import { randomConversation } from "../helpers/random-conversation.ts";

const STRIP = { policy: "strip", request: true, response: true } as const;
const DEFAULT: Policies = { reasoning: "strip", tool_calls: STRIP };
const SUMMARIZE: Policies = { summary: { policy: "summarize", model: "a/b" } };

function requestFor(turns: readonly Turn[], more: Partial<CompactionRequest> = {}): CompactionRequest {
  return {
    turnCount: turns.length,
    turnTimes: [],
    compactions: [],
    turns: new Map(turns.map((turn) => [turn.index, turn])),
    now: "2026-03-01T00:00:00Z",
    range: { keep: 0 },
    policies: DEFAULT,
    ...more,
  };
}

const ask = (notation: string, more: Partial<CompactionRequest> = {}) =>
  planCompaction(requestFor(parseConversation(notation), more));

function planned(notation: string, more: Partial<CompactionRequest> = {}): CompactionPlan {
  const plan = ask(notation, more);
  if (isNothing(plan)) throw new Error(`nothing planned: ${plan.nothing}`);
  return plan;
}

function live(from_turn: number, to_turn: number, more: Partial<Compaction>): Compaction {
  return {
    type: "compaction",
    id: `c${from_turn}-${to_turn}`,
    timestamp: "2026-02-01T00:00:00Z",
    from_turn,
    to_turn,
    ...more,
  };
}

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
    expect(planned(five, { range: { keep: 1 } }).compaction).not.toHaveProperty("to_event");
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
    expect(planned("U R A | U R T t").compaction).toMatchObject({ to_turn: 1, to_event: "e1.1" });
    expect(planned("U R A | U R T t", { policies: { turns: "omit" } }).compaction).toMatchObject({ to_turn: 0 });
    expect(ask("U R T t", { policies: SUMMARIZE })).toEqual({
      nothing: expect.stringContaining("still working on it"),
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
  it.each<[string, string, Partial<CompactionRequest>]>([
    ["no turns", "", {}],
    ["no reasoning to strip", "U A | U T t A", { policies: { reasoning: "strip" } }],
    ["neither reasoning nor tools", "U A | U A", {}],
    ["no attachments", "U A", { policies: { attachments: "strip" } }],
    ["all results short enough", "U T t A", { policies: { tool_calls: { policy: "truncate", max_chars: 500 } } }],
    [
      "policies that do nothing",
      "U T t A",
      { policies: { tool_calls: { policy: "strip", request: false, response: false } } },
    ],
    ["no policies", "U R A", { policies: {} }],
    [
      "it has been done",
      "U R A",
      { policies: { reasoning: "strip" }, compactions: [live(0, 0, { reasoning: "strip" })] },
    ],
    ["an empty range", "U R A | U R A", { range: { from: parseBound("5") } }],
    ["nothing that a model sees", "N", { policies: SUMMARIZE }],
  ])("is said when there is %s", (_name, notation, more) => {
    expect(ask(notation, more)).toEqual({ nothing: expect.any(String) });
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

  it("stands alone when its text is there", () => {
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
    expect(plan.extendedFrom).toBeUndefined();
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

  it("names all that hide it together, oldest first, also where one ends inside a turn", () => {
    const compactions = [
      live(1, 3, { id: "s2", from_event: "e1.3", summary: { summary: "b" }, timestamp: "2026-02-02T00:00:00Z" }),
      live(0, 1, { id: "s1", to_event: "e1.2", summary: { summary: "a" } }),
    ];
    expect(planned(five, { compactions, range: { to: parseBound("3") } }).hiddenBy).toEqual(["s1", "s2"]);
  });
});

describe("planCompactionReading", () => {
  it("lists the range, the newest turn, and what a summary may grow over", () => {
    const request = requestFor(parseConversation(five), { range: { from: parseBound("2"), to: parseBound("2") } });
    expect(planCompactionReading(request)).toEqual([2, 4]);
    const compactions = [live(0, 2, { summary: { summary: "old" } })];
    expect(planCompactionReading({ ...request, compactions, policies: SUMMARIZE })).toEqual([0, 1, 2, 4]);
    expect(planCompactionReading({ ...request, turnCount: 0 })).toEqual([]);
  });

  it("is enough: reading more turns never changes the plan", () => {
    const policies = fc.constantFrom<Policies>(
      DEFAULT,
      SUMMARIZE,
      { turns: "omit" },
      { reasoning: "strip", attachments: "strip" },
    );
    const range = fc.constantFrom(
      {},
      { keep: 1 },
      { from: parseBound("last"), keep: 0 },
      { to: parseBound("last") },
      { from: parseBound("-2"), to: parseBound("1") },
    );
    fc.assert(
      fc.property(randomConversation, policies, range, ({ turns, compactions }, policy, asked) => {
        const all = requestFor(turns, { compactions, policies: policy, range: asked });
        const positions = planCompactionReading(all);
        const read = new Map(positions.map((position) => [position, turns[position] as Turn]));
        const { segments: _few, ...few } = { segments: [], ...planCompaction({ ...all, turns: read }) };
        const { segments: _many, ...many } = { segments: [], ...planCompaction(all) };
        expect(few).toEqual(many);
      }),
    );
  });
});

describe("laws of planning", () => {
  /** Random plans over random conversations; runs that plan nothing are left out. */
  function eachPlan(check: (draft: Compaction, turns: readonly Turn[]) => void): void {
    fc.assert(
      fc.property(randomConversation, fc.boolean(), fc.nat(3), ({ turns }, isSummary, keep) => {
        const text = { policies: SUMMARIZE, summary: { summary: "text" } };
        const plan = planCompaction(requestFor(turns, { range: { keep }, ...(isSummary ? text : {}) }));
        if (!isNothing(plan)) check({ ...plan.compaction, id: "new", timestamp: "2027-01-01T00:00:00Z" }, turns);
      }),
      { numRuns: 300 },
    );
  }

  /** Position of the last covered event in the end turn. */
  function endOf(draft: Compaction, turns: readonly Turn[]): number {
    const events = turns[draft.to_turn]?.events ?? [];
    return draft.to_event === undefined ? events.length - 1 : events.findIndex(({ id }) => id === draft.to_event);
  }

  it("a range never ends between a call and its result", () => {
    eachPlan((draft, turns) => {
      const turn = turns[draft.to_turn] as Turn;
      const end = endOf(draft, turns);
      for (const [result, call] of pairCalls([turn], () => false)) {
        expect(turn.events.indexOf(call) <= end).toBe(turn.events.indexOf(result) <= end);
      }
    });
  });

  it("a range that reaches the newest turn says where it ends, before an unfinished loop", () => {
    eachPlan((draft, turns) => {
      if (draft.to_turn < turns.length - 1) return;
      expect(draft.to_event).toBeDefined();
      const loop = unfinishedLoop(turns.at(-1)?.events ?? []);
      if (loop !== null) expect(endOf(draft, turns)).toBeLessThanOrEqual(loop);
    });
  });

  it("what lies behind the range is read as before", () => {
    eachPlan((draft, turns) => {
      const after = new Set(projectTurns(turns, [draft]).turns.flatMap(({ events }) => events));
      const behind = turns
        .slice(draft.to_turn)
        .flatMap(({ index, events }) => (index === draft.to_turn ? events.slice(endOf(draft, turns) + 1) : events));
      for (const event of behind.filter((each) => traitsOf(each).providerVisible)) expect(after.has(event)).toBe(true);
    });
  });
});
