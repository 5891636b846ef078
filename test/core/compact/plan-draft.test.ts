// What a planned compaction says of itself: its fields other than the range, by policies and by strategies.

import { describe, expect, it } from "vitest";
import { type PlanInput, planCompaction, trialOf } from "../../../src/core/compact/plan.ts";
import { chooseStrategies } from "../../../src/core/compact/strategies/strategy-list.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import type { Policies } from "../../../src/core/conversation/policy.ts";
import { parseBound } from "../../../src/core/conversation/range-bound.ts";
import { parseConversation } from "../../helpers/notation.ts";
import { ask, live, planned, requestFor, STRIP, SUMMARIZE } from "../../helpers/plan-request.ts";

const IMAGE = { type: "image", media_type: "image/png", data: "AAAA" } as const;

const strategies = (...names: string[]) => ({ uses: chooseStrategies(names), names });

describe("a plan by policies", () => {
  const base = { type: "compaction", from_turn: 0, to_turn: 0, to_event: "e0.5", source: "manual" } as const;
  const stats = { original_message_count: 2, events_removed: 1 };

  it("is whole", () => {
    expect(planned("U R T t A")).toEqual({
      compaction: { ...base, reasoning: "strip", tool_calls: STRIP, stats },
      segments: [{ from: 0, to: 0, kind: "compacted", policies: "reasoning + tools stripped", planned: true }],
      hiddenBy: [],
      steps: [],
    });
  });

  it("has every policy of the profile, who asked, and how stubs are written", () => {
    const policies: Policies = { reasoning: "strip", tool_calls: STRIP, attachments: "strip", turns: "omit" };
    const more = { policies, profile: "mine", source: "agent", stubs: { pointers: true } } as const;
    expect(planned("U R T t A", more).compaction).toEqual({
      ...base,
      ...policies,
      stubs: { pointers: true },
      profile: "mine",
      source: "agent",
      stats: { original_message_count: 2, events_removed: 5 },
    });
  });

  it("says how stubs are written only where it makes some", () => {
    const stubsOf = (more: Partial<PlanInput>) => planned("U R T t A", more).compaction.stubs;
    expect(stubsOf({ stubs: { first_line: true } })).toEqual({ first_line: true });
    expect(stubsOf({ stubs: {} })).toBeUndefined();
    expect(stubsOf({ stubs: { first_line: true }, policies: { reasoning: "strip" } })).toBeUndefined();
    expect(stubsOf({ stubs: { first_line: true }, policies: SUMMARIZE })).toBeUndefined();
  });

  it("names what an older reader does not know", () => {
    const turns = parseConversation("U A | U A").map(({ index, events }) => ({
      index,
      events: events.map((event): Event => (event.id === "e0.1" ? ({ ...event, content: [IMAGE] } as Event) : event)),
    }));
    const policies: Policies = { images: "strip" };
    const plan = (more: Partial<PlanInput>) => planCompaction(requestFor(turns, { policies, ...more }));
    expect(plan({})).toMatchObject({
      compaction: { images: "strip", needs: ["images"], stats: { events_removed: 0 } },
    });
    const attachments = plan({ policies: { attachments: "strip" } });
    expect("nothing" in attachments ? attachments : attachments.compaction).not.toHaveProperty("needs");
    for (const field of ["images", "attachments"])
      expect(plan({ compactions: [live(0, 0, { [field]: "strip" })] })).toHaveProperty("nothing");
    expect(ask("U A", { policies })).toHaveProperty("nothing");
  });

  it("names events that stay in the order in which they were asked for", () => {
    expect(planned("U R T t A", { keep: ["e0.3", "e0.2", "e0.3"] }).compaction.keep).toEqual(["e0.3", "e0.2"]);
    expect(planned("U R T t A").compaction).not.toHaveProperty("keep");
    expect(planned("U R T t A", { keep: ["e7.1"] }).compaction).not.toHaveProperty("keep");
  });

  it("keeps a summary that is given for another time when it makes none", () => {
    expect(planned("U R A", { summary: { summary: "text" } }).compaction).not.toHaveProperty("summary");
  });
});

describe("a plan by strategies", () => {
  it("is by them alone, and says so", () => {
    const plan = planned("U R T t A", {
      policies: { ...SUMMARIZE, turns: "omit" },
      strategies: strategies("strip-reasoning", "strip-tools"),
    });
    expect(plan.compaction).toMatchObject({ reasoning: "strip", strategy: ["strip-reasoning", "strip-tools"] });
    expect(plan.compaction.turns).toBeUndefined();
    expect(plan).not.toHaveProperty("summarize");
  });

  it("is called by the name it was asked for", () => {
    const asked = { ...strategies("strip-reasoning", "dedup-tools"), names: ["auto"] };
    expect(planned("U R A", { strategies: asked }).compaction.strategy).toEqual(["auto"]);
  });

  it("names them when they change nothing", () => {
    const asked = strategies("strip-reasoning", "dedup-tools");
    const changed = (what: string) => ({ nothing: `turns 0..0 hold nothing that ${what} would change` });
    expect(ask("U A", { strategies: asked })).toMatchObject(changed("strip-reasoning, dedup-tools"));
    expect(ask("U A", { strategies: { ...asked, names: ["auto", "more"] } })).toMatchObject(changed("auto, more"));
  });

  it("changes something when it prunes a tool, though every event stays", () => {
    const asked = { strategies: strategies("prune-tools"), strategyFacts: { definedTools: ["grep", "tool"] } };
    expect(planned("U T t A", asked).compaction).toMatchObject({
      tools: { policy: "prune", names: ["grep"] },
      stats: { original_message_count: 2, events_removed: 0 },
    });
  });

  it("asks for a summary by default where they summarise, by the policy where there is one", () => {
    const asked = { strategies: strategies("summarize") };
    expect(planned("U A", { ...asked, policies: {} }).summarize).toEqual({ policy: "summarize" });
    expect(planned("U A", { ...asked, policies: SUMMARIZE }).summarize).toEqual(SUMMARIZE.summary);
    const summary = { summary: "text" };
    const plan = planned("U R A", { ...asked, policies: { reasoning: "strip" }, summary });
    expect(plan.compaction).toMatchObject({ summary, strategy: ["summarize"] });
    expect(plan.compaction).not.toHaveProperty("reasoning");
    expect(plan).not.toHaveProperty("summarize");
    expect(plan.steps).toEqual([]);
  });

  it("says nothing of what stays by name", () => {
    const plan = planned("U R T t A", { strategies: strategies("strip-tools"), keep: ["e0.3"] });
    expect(plan.compaction.keep).toEqual(["e0.3"]);
    expect(JSON.stringify(plan.compaction.tool_calls)).not.toContain('"request":"strip"');
  });
});

describe("an unfinished loop", () => {
  const LOOP = "U R A | U R A Q R T t";

  const spared = { range: { keepLast: 0 } };

  it.each<[string, Partial<PlanInput>, string | undefined]>([
    ["reasoning", { policies: { reasoning: "strip" } }, "e1.4"],
    ["calls", { policies: { reasoning: "strip", tool_calls: STRIP } }, "e1.4"],
    ["attachments", { policies: { reasoning: "strip", attachments: "strip" } }, "e1.3"],
    ["images", { policies: { reasoning: "strip", images: "strip" } }, "e1.3"],
    ["turns", { policies: { turns: "omit" } }, "e1.3"],
    ["a summary", { policies: SUMMARIZE }, "e1.3"],
    ["reasoning, by strategies", { strategies: strategies("strip-reasoning") }, "e1.4"],
    ["attachments, by strategies", { strategies: strategies("strip-reasoning", "strip-attachments") }, "e1.3"],
    [
      "reasoning, though the policies are others",
      { policies: SUMMARIZE, strategies: strategies("strip-reasoning") },
      "e1.4",
    ],
  ])("is spared, its request where requests are touched: %s", (_what, more, to_event) => {
    expect(planned(LOOP, { ...spared, ...more }).compaction).toMatchObject({ to_turn: 1, to_event });
  });

  it.each<[string, Partial<PlanInput>]>([
    ["its end is named", { range: { to: parseBound("1") } }],
    ["no turns are to be kept", { range: { keep: 0 } }],
    ["that is asked for", { ...spared, intoLoop: true }],
  ])("is reached into where %s, but for its reasoning", (_when, more) => {
    const asked = { ...more, policies: { reasoning: "strip", tool_calls: STRIP } } as const;
    const { compaction } = planned(LOOP, { ...asked, keep: ["e0.2"] });
    expect(compaction).toMatchObject({ to_turn: 1, to_event: "e1.7", keep: ["e0.2", "e1.5"] });
    const chosen = { ...more, strategies: strategies("strip-reasoning", "strip-tool-results") };
    expect(planned(LOOP, chosen).compaction).toMatchObject({ to_event: "e1.7", keep: ["e1.5"] });
  });

  it("is reached into up to the newest tokens that are left alone", () => {
    const range = { keep: 0, protectTokens: 1 };
    expect(planned(LOOP, { range }).compaction).toMatchObject({ to_event: "e1.5" });
  });

  it("keeps its requests where attachments go, and calls that have no result yet", () => {
    const plan = planned("U R T t A | U T t T t T", { policies: { attachments: "strip", tool_calls: STRIP } });
    expect(plan.compaction.keep).toEqual(["e1.1", "e1.6"]);
  });

  it("names nothing that an older compaction took", () => {
    const compactions = [live(1, 1, { to_event: "e1.5", reasoning: "strip" })];
    expect(planned(LOOP, { compactions }).compaction.keep).toBeUndefined();
  });

  it("is not reached into by what hides turns", () => {
    expect(planned(LOOP, { policies: SUMMARIZE }).compaction).toMatchObject({ to_event: "e1.3" });
    expect(planned(LOOP, { policies: { turns: "omit" } }).compaction).toMatchObject({ to_event: "e1.3" });
  });

  it("that is none leaves reasoning to be stripped", () => {
    expect(planned("U R A A", { strategies: strategies("strip-reasoning") }).compaction).not.toHaveProperty("keep");
  });
});

describe("trialOf", () => {
  const draft = { type: "compaction", from_turn: 0, to_turn: 1 } as const;
  const newest = { id: "\uffff", timestamp: "9999-12-31T23:59:59Z" };

  it("is the newest of all, with an empty text in place of a summary that is not there", () => {
    expect(trialOf(draft, false)).toEqual({ ...draft, ...newest });
    expect(trialOf(draft, true)).toEqual({ ...draft, ...newest, summary: { summary: "" } });
    const written = { ...draft, summary: { summary: "text" } };
    expect(trialOf(written, true)).toEqual({ ...written, ...newest });
  });

  it("hides what an older compaction of any time shows", () => {
    const compactions = [
      live(0, 0, { tool_calls: { policy: "truncate", max_chars: 5 }, timestamp: "2999-01-01T00:00:00Z" }),
    ];
    expect(planned("U T t A", { compactions }).segments).toMatchObject([{ planned: true }]);
  });
});
