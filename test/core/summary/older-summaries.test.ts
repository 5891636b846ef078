import { describe, expect, it } from "vitest";
import { hasRoomBehind } from "../../../src/core/compact/summary-answer.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";

/** A summary of about so many tokens over some turns; later ids are newer. */
function summary(id: string, [from_turn, to_turn]: readonly [number, number], tokens: number): Compaction {
  const timestamp = `2026-02-01T00:00:0${id}Z`;
  return { type: "compaction", id, timestamp, from_turn, to_turn, summary: { summary: "word ".repeat(tokens) } };
}

describe("hasRoomBehind", () => {
  const two = [summary("1", [0, 4], 100), summary("2", [5, 9], 100)];

  it("tells whether several summaries leave three quarters of the limit", () => {
    expect(hasRoomBehind(two, 2000)).toBe(true);
    expect(hasRoomBehind(two, 400)).toBe(false);
  });

  it("takes no single one for too much: another in its place is no smaller", () => {
    expect(hasRoomBehind([], 10)).toBe(true);
    expect(hasRoomBehind(two.slice(0, 1), 10)).toBe(true);
  });

  it("counts none that a newer one stands for, and nothing but summaries", () => {
    expect(hasRoomBehind([...two, summary("3", [0, 9], 100)], 10)).toBe(true);
    const { summary: _, ...rest } = summary("4", [10, 12], 100);
    expect(hasRoomBehind([...two.slice(0, 1), { ...rest, turns: "omit" }], 10)).toBe(true);
    // An older one over all turns is no newer one's place.
    expect(hasRoomBehind([summary("0", [0, 9], 100), ...two], 400)).toBe(false);
  });
});
