// Which turns a projection reads.
import { describe, expect, it } from "vitest";
import { planReading, planTurnReadings } from "../../../src/core/conversation/covered-range.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { makeCompaction, STRIP_TOOLS, summaryOf } from "../../helpers/make-compaction.ts";
import { parseConversation } from "../../helpers/notation.ts";

// covers: 064 "Summaries cannot be split or sliced"

describe("planReading", () => {
  it("reads every turn when nothing is hidden", () => {
    expect(planReading(3, [makeCompaction("m", [0, 2], STRIP_TOOLS)])).toEqual([0, 1, 2]);
    expect(planReading(0, [])).toEqual([]);
  });

  it("reads of the turns under a summary only the one at which it is injected", () => {
    const plan = planReading(10_000, [makeCompaction("s", [0, 9899], summaryOf("S"))]);
    expect(plan).toHaveLength(101);
    expect(plan.slice(0, 2)).toEqual([0, 9900]);
  });

  it("reads nothing of omitted turns", () => {
    expect(planReading(4, [makeCompaction("o", [0, 2], { turns: "omit" })])).toEqual([3]);
  });

  it("reads turns that a range cuts and ranges that keep events", () => {
    const cut = makeCompaction("s", [0, 3], { from_event: "a", to_event: "b", ...summaryOf("S") });
    expect(planReading(5, [cut])).toEqual([0, 1, 3, 4]);
    expect(planReading(5, [makeCompaction("s", [1, 3], { keep: ["e"], ...summaryOf("S") })])).toEqual([0, 1, 2, 3, 4]);
  });

  it("does not read what a newer summary hides wholly, however older ones are cut or keep", () => {
    const old = makeCompaction("old", [0, 5], { to_event: "b", keep: ["e"], ...summaryOf("O") }, 1);
    expect(planReading(8, [old, makeCompaction("new", [0, 6], summaryOf("N"), 2)])).toEqual([0, 7]);
  });

  it("reads the first turn that each of two nested summaries wins", () => {
    const inner = makeCompaction("inner", [2, 3], summaryOf("I"), 2);
    expect(planReading(8, [makeCompaction("outer", [0, 6], summaryOf("O"), 1), inner])).toEqual([0, 2, 7]);
  });

  it("does not ask for turns past the end", () => {
    expect(planReading(2, [makeCompaction("s", [1, 9], { to_event: "x", ...summaryOf("S") })])).toEqual([0, 1]);
  });
});

describe("planTurnReadings", () => {
  it("needs the first event of the turn at which a summary is injected, and the others whole", () => {
    const readings = planTurnReadings(4, [makeCompaction("s", [0, 2], summaryOf("S"))]);
    expect(readings).toEqual([
      { turn: 0, firstEventOnly: true },
      { turn: 3, firstEventOnly: false },
    ]);
  });

  it("needs the time of a summary once, though a newer one cuts what it hides in two", () => {
    const inner = makeCompaction("inner", [2, 3], summaryOf("I"), 2);
    expect(planTurnReadings(6, [makeCompaction("outer", [0, 5], summaryOf("O"), 1), inner])).toEqual([
      { turn: 0, firstEventOnly: true },
      { turn: 2, firstEventOnly: true },
    ]);
  });

  it("needs the first event for a replacement list, unless it is empty", () => {
    const [turn] = parseConversation("U A");
    const replacing = (events: readonly Event[]) => [makeCompaction("r", [0, 1], { replacement: events })];
    expect(planTurnReadings(2, replacing(turn!.events))).toEqual([{ turn: 0, firstEventOnly: true }]);
    expect(planTurnReadings(2, replacing([]))).toEqual([]);
  });

  it("needs a turn whole that a summary ends in", () => {
    const readings = planTurnReadings(1, [makeCompaction("s", [0, 0], { to_event: "x", ...summaryOf("S") })]);
    expect(readings).toEqual([{ turn: 0, firstEventOnly: false }]);
  });
});
