import { describe, expect, it } from "vitest";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import {
  type CoveredRange,
  createOverlays,
  cutsTurn,
  type Overlay,
  planRanges,
  planReading,
  planTurnReadings,
  rangesDecidedBy,
} from "../../../src/core/conversation/covered-range.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { coversEvent, findDecider, keepsEvent, localizeOverlays } from "../../../src/core/conversation/survey.ts";
import { makeCompaction, STRIP_TOOLS, summaryOf } from "../../helpers/make-compaction.ts";
import { parseConversation } from "../../helpers/notation.ts";

/** The only overlay of a compaction in a conversation of four turns. */
function overlayOf(range: readonly [number, number], fields: Partial<Compaction> = {}): Overlay {
  const [overlay, ...others] = createOverlays(4, [makeCompaction("c", range, fields)]);
  if (overlay === undefined || others.length > 0) throw new Error("expected one overlay");
  return overlay;
}

describe("createOverlays", () => {
  it.each<[readonly [number, number], readonly [number, number] | null]>([
    [
      [0, 3],
      [0, 3],
    ],
    [
      [3, 9],
      [3, 3],
    ],
    [
      [-2, 0],
      [0, 0],
    ],
    [[4, 4], null],
    [[-2, -1], null],
    [[2, 1], null],
  ])("clamps the range %j to %j", (range, clamped) => {
    const overlays = createOverlays(4, [makeCompaction("c", range)]);
    expect(overlays.map(({ from, to }) => [from, to])).toEqual(clamped === null ? [] : [clamped]);
  });

  it("orders them newest first", () => {
    const list = [makeCompaction("b", [0, 0], {}, 2), makeCompaction("a", [0, 0], {}, 3), makeCompaction("c", [0, 0])];
    expect(createOverlays(1, list).map(({ compaction }) => compaction.id)).toEqual(["a", "b", "c"]);
  });

  it("says of a compaction without opinions that it hides and keeps nothing", () => {
    const compaction = makeCompaction("c", [1, 2], { keep: [] });
    expect(createOverlays(4, [compaction])).toEqual([
      { compaction, from: 1, to: 2, hides: false, keep: null, halves: null, calls: null },
    ]);
  });

  it("makes what is kept and what is named ready for lookups", () => {
    const calls = [{ event: "e1", request: "strip" }, { event: "e2" }] as const;
    const named = overlayOf([0, 1], { keep: ["a", "b"], tool_calls: { policy: "selective", calls } });
    expect(named).toMatchObject({ hides: false, keep: new Set(["a", "b"]) });
    expect(named.calls).toEqual(new Map(calls.map((call) => [call.event, call])));
    expect(overlayOf([0, 1], { ...STRIP_TOOLS, ...summaryOf("s") })).toMatchObject({ hides: true, calls: null });
  });

  it.each<[readonly [number, number], object]>([
    [[0, 3], { fromEvent: "a", toEvent: "b" }],
    [[-1, 3], { toEvent: "b" }],
    [[0, 4], { fromEvent: "a" }],
  ])("takes the events that bound %j where their turns are in the conversation", (range, bounds) => {
    const { fromEvent, toEvent } = overlayOf(range, { from_event: "a", to_event: "b" });
    expect({ fromEvent, toEvent }).toEqual({ fromEvent: undefined, toEvent: undefined, ...bounds });
  });

  it("cuts only the turns in which it begins or ends at an event", () => {
    const cuts = (fields: Partial<Compaction>) =>
      [0, 1, 2, 3].filter((turn) => cutsTurn(overlayOf([1, 2], fields), turn));
    expect(cuts({})).toEqual([]);
    expect(cuts({ from_event: "a" })).toEqual([1]);
    expect(cuts({ to_event: "b" })).toEqual([2]);
    expect(cuts({ from_event: "a", to_event: "b" })).toEqual([1, 2]);
  });
});

describe("an overlay in one turn", () => {
  const turns = parseConversation("U A | U A A | U A A | U");

  /** First and last position that each compaction covers in a turn. */
  function boundsIn(turn: number, ...compactions: readonly Compaction[]): readonly (readonly [number, number])[] {
    const range = planRanges(turns.length, compactions).find(({ from, to }) => from <= turn && turn <= to);
    return localizeOverlays(range as CoveredRange, turns[turn]!).map(({ first, last }) => [first, last]);
  }

  const END = Number.POSITIVE_INFINITY;

  it("covers a turn in its middle whole, and its end turns from and to their events", () => {
    const cut = makeCompaction("c", [0, 2], { from_event: "e0.1", to_event: "e2.2" });
    expect([0, 1, 2].map((turn) => boundsIn(turn, cut))).toEqual([[[1, END]], [[0, END]], [[0, 2]]]);
    const inside = makeCompaction("c", [1, 1], { from_event: "e1.1", to_event: "e1.2" });
    expect(boundsIn(1, inside)).toEqual([[1, 2]]);
    expect(boundsIn(1, makeCompaction("c", [1, 1]))).toEqual([[0, END]]);
  });

  it("covers nothing if its first event is missing, and everything to the end if its last one is", () => {
    expect(boundsIn(1, makeCompaction("c", [1, 1], { from_event: "gone" }))).toEqual([[END, END]]);
    expect(boundsIn(1, makeCompaction("c", [1, 1], { to_event: "gone" }))).toEqual([[0, END]]);
  });

  it("covers the events at both of its ends", () => {
    const local = { overlay: overlayOf([0, 0]), first: 2, last: 3 };
    expect([1, 2, 3, 4].map((index) => coversEvent(local, index))).toEqual([false, true, true, false]);
  });

  it("decides about an event that it covers and hides or keeps by name, the newest first", () => {
    const event: Event = { type: "chat_request", id: "e", timestamp: "t", content: "ask" };
    const local = (fields: Partial<Compaction>, first = 0, last = 9) => ({
      overlay: overlayOf([0, 0], fields),
      first,
      last,
    });
    const hiding = local(summaryOf("s"));
    const keeping = local({ keep: ["e"] });
    const other = local({ keep: ["f"] });
    expect(findDecider([other, local({ reasoning: "strip" })], event, 1)).toBeNull();
    expect(findDecider([other, hiding, keeping], event, 1)).toBe(hiding.overlay);
    expect(findDecider([keeping, hiding], event, 1)).toBe(keeping.overlay);
    expect(findDecider([local({ keep: ["e"] }, 2), local(summaryOf("s"), 0, 0), hiding], event, 1)).toBe(
      hiding.overlay,
    );
    expect([keeping, other, hiding].map(({ overlay }) => keepsEvent(overlay, event))).toEqual([true, false, false]);
  });
});

// Which turns a projection reads.

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

describe("rangesDecidedBy", () => {
  const omitted = makeCompaction("c", [1, 6], { turns: "omit" }, 2);
  const rangesAmong = (...others: Compaction[]): readonly string[] =>
    rangesDecidedBy(omitted, { turnCount: 8, compactions: [...others, omitted] }).map(
      ({ from, to }) => `${from}..${to}`,
    );

  it.each<[string, Compaction, readonly string[]]>([
    ["one that is older", makeCompaction("a", [0, 7], summaryOf("All."), 1), ["1..6"]],
    ["one that hides all of its turns", makeCompaction("a", [0, 7], summaryOf("All."), 3), []],
    ["one that hides its middle", makeCompaction("a", [3, 4], summaryOf("Some."), 3), ["1..2", "5..6"]],
    ["one that hides its end", makeCompaction("a", [5, 7], summaryOf("Some."), 3), ["1..4"]],
    ["one that shortens its turns", makeCompaction("a", [2, 3], STRIP_TOOLS, 3), ["1..6"]],
    ["one that hides other turns", makeCompaction("a", [7, 7], summaryOf("One."), 3), ["1..6"]],
  ])("is without what another one hides, %s", (_, other, ranges) => {
    expect(rangesAmong(other)).toEqual(ranges);
  });

  it("is the whole range where it is alone, and nothing beyond the end", () => {
    expect(rangesAmong()).toEqual(["1..6"]);
    expect(rangesDecidedBy(omitted, { turnCount: 1, compactions: [omitted] })).toEqual([]);
  });
});
