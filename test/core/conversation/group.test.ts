import { describe, expect, it } from "vitest";
import { type Compaction, compareCompactions } from "../../../src/core/conversation/compaction.ts";
import { recordPath } from "../../../src/core/conversation/compaction-line.ts";
import {
  clampCompaction,
  clampedId,
  describeGroup,
  groupOf,
  groupRange,
  groupsOf,
  isSameGroup,
} from "../../../src/core/conversation/group.ts";
import { makeCompaction, STRIP_TOOLS } from "../../helpers/make-compaction.ts";

const compaction = (id: string, from_turn: number, to_turn: number, more: Partial<Compaction> = {}): Compaction => ({
  type: "compaction",
  id,
  timestamp: "2026-02-01T00:00:00Z",
  from_turn,
  to_turn,
  ...more,
});
const strip = (id: string, from: number, to: number): Compaction =>
  compaction(id, from, to, { reasoning: "strip", group: "g" });

describe("a group", () => {
  const all = [
    strip("c", 7, 7),
    compaction("x", 0, 9, { turns: "omit" }),
    strip("a", 0, 3),
    compaction("b", 5, 5, { turns: "omit", group: "g" }),
  ];

  it("is what shares its id, in order of ranges; a compaction without one is a group of its own", () => {
    expect(groupsOf(all).map((group) => group.map(({ id }) => id))).toEqual([["a", "b", "c"], ["x"]]);
    for (const one of all) {
      const group = groupOf(one, all);
      expect(group.map(({ id }) => id)).toEqual(one.group === undefined ? ["x"] : ["a", "b", "c"]);
      expect(group.every((other) => isSameGroup(one, other))).toBe(true);
    }
    expect(isSameGroup(compaction("x", 0, 0), compaction("y", 0, 0))).toBe(false);
  });

  it("counts itself once, though it is another object among the others", () => {
    expect(groupOf({ ...strip("a", 0, 3) }, all).map(({ id }) => id)).toEqual(["a", "b", "c"]);
  });

  it("is put into words by what is done to which turns, bounded", () => {
    const [group] = groupsOf(all);
    expect(group === undefined ? "" : describeGroup(group)).toBe("reasoning stripped (0..3, 7), turns omitted (5)");
    expect(group === undefined ? null : groupRange(group)).toEqual({ from: 0, to: 7 });
    const many = groupOf(
      strip("z0", 0, 0),
      Array.from({ length: 5000 }, (_, at) => strip(`z${at}`, 2 * at, 2 * at)),
    );
    expect(describeGroup(many)).toBe("reasoning stripped (0, 2, 4, 6, 8, 4995 more)");
    expect(describeGroup([compaction("x", 0, 9, { turns: "omit" })])).toBe("turns omitted");
  });
});

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

  it("names copies that sort like their originals where times are equal", () => {
    const [a, b] = [makeCompaction("abc", [0, 9]), makeCompaction("abd", [0, 9])] as const;
    const [x, y] = [a, b].map((each) => clampCompaction(each, { turn: 12, event: "e" }));
    expect(compareCompactions(x!, y!)).toBe(compareCompactions(a, b));
  });

  it("gives ids that can name a file, however long the original's is", () => {
    const id = clampedId("x".repeat(64), 123_456);
    expect(recordPath("compactions", "2026-03-01T00:00:00Z", id)).toContain("x-123456.jsonl");
  });
});
