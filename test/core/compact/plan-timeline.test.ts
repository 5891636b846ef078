import { describe, expect, it } from "vitest";
import { planTimeline as drawTimeline, listHiding, type TimelineFacts } from "../../../src/core/compact/timeline.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { parseConversation } from "../../helpers/notation.ts";

const turns = new Map(parseConversation("U A | U A | U T t A | U A | U A").map((turn) => [turn.index, turn]));

function compaction(id: string, from_turn: number, to_turn: number, more: Partial<Compaction>): Compaction {
  return { type: "compaction", id, timestamp: `2026-02-0${id.length}T00:00:00Z`, from_turn, to_turn, ...more };
}

const draft = (from: number, to: number, more: Partial<Compaction>): Compaction => ({
  ...compaction("\uffff", from, to, more),
  timestamp: "9999-12-31T23:59:59Z",
});

const planTimeline = (one: Compaction, facts: TimelineFacts): ReturnType<typeof drawTimeline> =>
  drawTimeline([one], facts);

describe("planTimeline", () => {
  it("shows what the plan covers and what is kept", () => {
    expect(planTimeline(draft(0, 2, { reasoning: "strip" }), { turnCount: 5, turns, compactions: [] })).toEqual([
      { from: 0, to: 2, kind: "compacted", policies: "reasoning stripped", planned: true },
      { from: 3, to: 4, kind: "kept" },
    ]);
  });

  it("shares the turn inside which the plan ends", () => {
    expect(
      planTimeline(draft(0, 2, { to_event: "e2.3", turns: "omit" }), { turnCount: 5, turns, compactions: [] }),
    ).toEqual([
      { from: 0, to: 2, kind: "compacted", policies: "turns omitted", planned: true },
      { from: 2, to: 4, fromIndex: 4, kind: "kept" },
    ]);
  });

  it("shows the compactions in force outside the plan, and summaries over it", () => {
    const compactions = [
      compaction("s", 0, 1, { summary: { summary: "old" } }),
      compaction("mm", 2, 3, { reasoning: "strip" }),
    ];
    expect(planTimeline(draft(1, 2, { attachments: "strip" }), { turnCount: 5, turns, compactions })).toEqual([
      { from: 0, to: 1, kind: "summary", policies: "summary", compaction: "s" },
      { from: 2, to: 2, kind: "compacted", policies: "attachments stripped", planned: true },
      { from: 3, to: 3, kind: "compacted", policies: "reasoning stripped", compaction: "mm" },
      { from: 4, to: 4, kind: "kept" },
    ]);
  });

  it("counts a cut turn that was not read as covered whole", () => {
    expect(
      planTimeline(draft(0, 2, { to_event: "e2.3", turns: "omit" }), {
        turnCount: 5,
        turns: new Map(),
        compactions: [],
      }),
    ).toEqual([
      { from: 0, to: 2, kind: "compacted", policies: "turns omitted", planned: true },
      { from: 3, to: 4, kind: "kept" },
    ]);
  });

  it("looks only at the events of a cut turn that a model is sent", () => {
    const facts = { turnCount: 5, turns, compactions: [] };
    expect(planTimeline(draft(2, 3, { from_event: "e2.1", reasoning: "strip" }), facts)).toEqual([
      { from: 0, to: 1, kind: "kept" },
      { from: 2, to: 3, kind: "compacted", policies: "reasoning stripped", planned: true },
      { from: 4, to: 4, kind: "kept" },
    ]);
  });

  it("counts a cut turn of which a model is sent nothing as covered whole", () => {
    const silent = new Map(parseConversation("U A | N N | U A").map((turn) => [turn.index, turn]));
    const facts = { turnCount: 3, turns: silent, compactions: [] };
    expect(planTimeline(draft(1, 1, { to_event: "e1.1", turns: "omit" }), facts)).toEqual([
      { from: 0, to: 0, kind: "kept" },
      { from: 1, to: 1, kind: "compacted", policies: "turns omitted", planned: true },
      { from: 2, to: 2, kind: "kept" },
    ]);
  });

  it("shows each run of a turn that is cut more than once, the newest overlay of a run first", () => {
    const compactions = [
      compaction("m", 2, 2, { from_event: "e2.2", to_event: "e2.3", attachments: "strip" }),
      compaction("old", 2, 3, { from_event: "e2.4", summary: { summary: "old" } }),
    ];
    expect(planTimeline(draft(2, 4, { reasoning: "strip" }), { turnCount: 5, turns, compactions })).toEqual([
      { from: 0, to: 1, kind: "kept" },
      { from: 2, to: 2, kind: "compacted", policies: "reasoning stripped", planned: true },
      { from: 2, to: 3, fromIndex: 4, kind: "summary", policies: "summary", compaction: "old" },
      { from: 4, to: 4, kind: "compacted", policies: "reasoning stripped", planned: true },
    ]);
    expect(planTimeline(draft(0, 0, { reasoning: "strip" }), { turnCount: 5, turns, compactions })).toEqual([
      { from: 0, to: 0, kind: "compacted", policies: "reasoning stripped", planned: true },
      { from: 1, to: 2, kind: "kept" },
      { from: 2, to: 2, fromIndex: 2, kind: "compacted", policies: "attachments stripped", compaction: "m" },
      { from: 2, to: 3, fromIndex: 4, kind: "summary", policies: "summary", compaction: "old" },
      { from: 4, to: 4, kind: "kept" },
    ]);
  });

  it("keeps neighbouring compactions of one kind apart", () => {
    const compactions = [
      compaction("s", 0, 1, { summary: { summary: "one" } }),
      compaction("tt", 2, 3, { summary: { summary: "two" } }),
    ];
    const old = { turnCount: 5, turns, compactions };
    expect(planTimeline(draft(4, 4, { summary: { summary: "three" } }), old)).toEqual([
      { from: 0, to: 1, kind: "summary", policies: "summary", compaction: "s" },
      { from: 2, to: 3, kind: "summary", policies: "summary", compaction: "tt" },
      { from: 4, to: 4, kind: "summary", policies: "summary", planned: true },
    ]);
  });

  it("calls a replacement a summary, and an omission of turns a compaction", () => {
    const compactions = [compaction("r", 0, 0, { replacement: [] }), compaction("oo", 1, 1, { turns: "omit" })];
    expect(planTimeline(draft(2, 4, { reasoning: "strip" }), { turnCount: 5, turns, compactions })).toEqual([
      { from: 0, to: 0, kind: "summary", policies: "replacement", compaction: "r" },
      { from: 1, to: 1, kind: "compacted", policies: "turns omitted", compaction: "oo" },
      { from: 2, to: 4, kind: "compacted", policies: "reasoning stripped", planned: true },
    ]);
  });
});

describe("what hides a mechanical plan", () => {
  const summary = (id: string, from: number, to: number, more: Partial<Compaction> = {}): Compaction =>
    compaction(id, from, to, { summary: { summary: id }, ...more });
  const whole = (from: number, to: number) => ({ from, fromIndex: 0, to, toIndex: Number.POSITIVE_INFINITY });
  const hiding = (range: ReturnType<typeof whole>, ...compactions: readonly Compaction[]): readonly string[] =>
    listHiding(range, { turnCount: 5, turns, compactions });

  it("is every summary, replacement and omission that together cover it, oldest first", () => {
    const omission = compaction("bb", 2, 2, { turns: "omit" });
    const list = compaction("ccc", 3, 4, { replacement: [] });
    expect(hiding(whole(0, 4), list, omission, summary("a", 0, 1))).toEqual(["a", "bb", "ccc"]);
    expect(hiding(whole(1, 2), list, omission, summary("a", 0, 1))).toEqual(["a", "bb"]);
    expect(hiding(whole(2, 2), list, omission, summary("a", 0, 1))).toEqual(["bb"]);
  });

  it("is nothing when a turn of the plan is shown", () => {
    expect(hiding(whole(0, 2), summary("a", 0, 1))).toEqual([]);
    expect(hiding(whole(1, 3), summary("a", 2, 4))).toEqual([]);
    expect(hiding(whole(0, 4), summary("a", 0, 1), summary("bb", 3, 4))).toEqual([]);
    expect(hiding(whole(0, 4), compaction("m", 0, 4, { reasoning: "strip" }))).toEqual([]);
  });

  it("is what covers the part of a turn that the plan covers", () => {
    const cut = summary("a", 0, 2, { to_event: "e2.3" });
    expect(hiding({ ...whole(1, 2), toIndex: 3 }, cut)).toEqual(["a"]);
    expect(hiding({ ...whole(1, 2), toIndex: 4 }, cut)).toEqual([]);
    const late = summary("a", 2, 3, { from_event: "e2.4" });
    expect(hiding({ ...whole(2, 3), fromIndex: 4 }, late)).toEqual(["a"]);
    expect(hiding({ ...whole(2, 3), fromIndex: 3 }, late)).toEqual([]);
    expect(
      hiding({ from: 2, fromIndex: 1, to: 2, toIndex: 4 }, cut, summary("bb", 2, 2, { from_event: "e2.4" })),
    ).toEqual(["a", "bb"]);
  });

  it("is nothing when an event is kept by name", () => {
    expect(hiding(whole(2, 2), summary("a", 0, 4, { keep: ["e2.2"] }))).toEqual([]);
    expect(hiding(whole(1, 1), summary("a", 0, 4, { keep: ["e2.2"] }))).toEqual(["a"]);
  });

  it("does not ask for what a model is not sent", () => {
    const noted = new Map(parseConversation("U A N | U A").map((turn) => [turn.index, turn]));
    const compactions = [summary("a", 0, 0, { from_event: "e0.1", to_event: "e0.2" })];
    expect(listHiding(whole(0, 0), { turnCount: 2, turns: noted, compactions })).toEqual(["a"]);
    expect(listHiding(whole(0, 1), { turnCount: 2, turns: noted, compactions })).toEqual([]);
  });
});
