import { describe, expect, it } from "vitest";
import { compareCompactions } from "../../../src/core/conversation/compaction.ts";
import { recordPath } from "../../../src/core/conversation/compaction-line.ts";
import { clampCompaction, clampedId } from "../../../src/core/conversation/group.ts";
import { makeCompaction, STRIP_TOOLS } from "../../helpers/make-compaction.ts";

describe("clampCompaction", () => {
  it("ends the copy at the bound and keeps its time, its policies, its beginning and what nobody knows", () => {
    const fields = { ...STRIP_TOOLS, from_event: "e1", keep: ["e2"], profile: "light", x_own: 7 };
    const original = makeCompaction("k3f9q2", [2, 9], { ...fields, to_event: "e90" });
    expect(clampCompaction(original, { turn: 4, event: "e40" })).toEqual({
      ...makeCompaction("k3f9q2-4", [2, 4], fields),
      to_event: "e40",
    });
  });

  it("drops what was true of the original only: its counts and its receipt", () => {
    const counted = { stats: { events_removed: 4 }, receipt: { facts: {}, mentioned_later: [] } };
    const original = makeCompaction("a", [0, 9], { reasoning: "strip", ...counted });
    expect(clampCompaction(original, { turn: 4, event: "e40" })).toEqual(
      makeCompaction("a-4", [0, 4], { reasoning: "strip", to_event: "e40" }),
    );
  });

  it("names copies that stand as their originals do where times clash", () => {
    const [a, b] = [makeCompaction("abc", [0, 9]), makeCompaction("abd", [0, 9])] as const;
    const [x, y] = [a, b].map((each) => clampCompaction(each, { turn: 12, event: "e" }));
    expect(compareCompactions(x!, y!)).toBe(compareCompactions(a, b));
  });

  it("gives ids that can name a file, however long the original's is", () => {
    const id = clampedId("x".repeat(64), 123_456);
    expect(recordPath("compactions", "2026-03-01T00:00:00Z", id)).toContain("x-123456.jsonl");
  });
});
