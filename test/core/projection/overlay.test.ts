import { describe, expect, it } from "vitest";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import {
  type CoveredRange,
  createOverlays,
  cutsTurn,
  type Overlay,
  planRanges,
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
      { compaction, from: 1, to: 2, hides: false, keep: null, halves: null, keptTurns: null, calls: null },
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

  it("covers nothing behind a first event that is missing, and all before a last one that is", () => {
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
