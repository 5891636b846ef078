import { describe, expect, it } from "vitest";
import {
  compareCompactions,
  compareTimestamps,
  isHiding,
  tokensSent,
} from "../../../src/core/conversation/compaction.ts";
import { makeCompaction, STRIP_TOOLS, summaryOf } from "../../helpers/make-compaction.ts";

describe("the order of compactions", () => {
  const ids = ["b", "a", "c", "B"];

  it("is by time first, whatever their ids", () => {
    const list = [makeCompaction("a", [0, 0], {}, 3), makeCompaction("b", [0, 0], {}, 1), makeCompaction("c", [0, 0])];
    expect(list.sort(compareCompactions).map(({ id }) => id)).toEqual(["b", "c", "a"]);
  });

  it("is by id among those of one time, by the codes of its characters", () => {
    const list = ids.map((id) => makeCompaction(id, [0, 0]));
    expect(list.sort(compareCompactions).map(({ id }) => id)).toEqual(["B", "a", "b", "c"]);
    for (const [x, a] of list.entries()) {
      for (const [y, b] of list.entries()) expect(compareCompactions(a, b)).toBe(Math.sign(x - y));
    }
  });
});

describe("compareTimestamps", () => {
  const times = [
    "2026-03-01T00:00:00Z",
    "2026-03-01T00:00:00.000000001Z",
    "2026-03-01T00:00:00.05Z",
    "2026-03-01T00:00:00.5Z",
    "2026-03-01T00:00:01Z",
    "2026-03-02T00:00:00Z",
  ];

  it("does not take the form for the time where texts are of one length", () => {
    const mixed: readonly (readonly [string, string])[] = [
      ["2026-03-01 00:00:00.25", "2026-03-01T00:00:00.5Z"],
      ["2026-03-01 00:00:02Z", "2026-03-01T00:00:03Z"],
      ["2026-03-01T00:00:00.1", "2026-03-01T00:00:01.Z"],
    ];
    for (const [a, b] of mixed) {
      expect(a.length, `${a} ${b}`).toBe(b.length);
      expect(compareTimestamps(a, b), `${a} ${b}`).toBe(-1);
      expect(compareTimestamps(b, a), `${b} ${a}`).toBe(1);
    }
  });

  it("orders instants, fractions of any number of digits among them", () => {
    for (const [x, a] of times.entries()) {
      for (const [y, b] of times.entries()) expect(compareTimestamps(a, b), `${a} ${b}`).toBe(Math.sign(x - y));
    }
  });

  it.each([
    "2026-03-01T00:00:00",
    "2026-03-01 00:00:00Z",
    "2026-03-01 00:00:00+00:00",
    "2026-03-01T00:00:00.000Z",
    "2026-03-01T00:00:00.0+00:00",
  ])("takes %s for the same instant", (written) => {
    expect(compareTimestamps(written, "2026-03-01T00:00:00Z")).toBe(0);
    expect(compareTimestamps("2026-03-01T00:00:00Z", written)).toBe(0);
  });
});

describe("a compaction", () => {
  it.each([
    ["a summary", summaryOf(""), true],
    ["a replacement", { replacement: [] }, true],
    ["an omission of turns", { turns: "omit" }, true],
    ["policies for calls", STRIP_TOOLS, false],
    ["nothing", {}, false],
  ] as const)("with %s hides whole events or does not", (_name, fields, hides) => {
    expect(isHiding(makeCompaction("c", [0, 0], fields))).toBe(hides);
  });

  it("counts everything that was sent for its summary", () => {
    expect(tokensSent({ calls: 7, input: 1, cache_read: 20, cache_write: 300, output: 4000 })).toBe(321);
  });
});
