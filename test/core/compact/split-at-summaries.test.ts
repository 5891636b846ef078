import { describe, expect, it } from "vitest";
import { splitAtSummaries } from "../../../src/core/compact/turn-parts.ts";
import { makeCompaction, STRIP_TOOLS, summaryOf } from "../../helpers/make-compaction.ts";
import { parseConversation, printConversation } from "../../helpers/notation.ts";

describe("splitAtSummaries", () => {
  const turns = parseConversation("U A | U A A | U A | U A");
  const split = (...compactions: ReturnType<typeof makeCompaction>[]): string[] =>
    splitAtSummaries(turns, compactions).map((stretch) => stretch.map(({ index }) => index).join(" "));

  it("keeps turns together that nothing replaces", () => {
    expect(split(makeCompaction("k", [1, 2], STRIP_TOOLS))).toEqual(["0 1 2 3"]);
  });

  it("splits before a summary and after it", () => {
    expect(split(makeCompaction("k", [1, 2], summaryOf("s")))).toEqual(["0", "1 2", "3"]);
    expect(split(makeCompaction("k", [0, 0], summaryOf("s")), makeCompaction("l", [0, 3], summaryOf("s")))).toEqual([
      "0",
      "1 2 3",
    ]);
  });

  it("splits a turn where a summary ends or begins inside it", () => {
    const inside = makeCompaction("k", [0, 1], { ...summaryOf("s"), to_event: "e1.1" });
    const stretches = splitAtSummaries(turns, [inside]);
    expect(stretches.map((stretch) => printConversation(stretch))).toEqual(["U A | U", "^ A A | U A | U A"]);
    const from = makeCompaction("l", [1, 2], { ...summaryOf("s"), from_event: "e1.3" });
    expect(splitAtSummaries(turns, [from]).map((stretch) => printConversation(stretch))).toEqual([
      "U A | U A",
      "^ A | U A",
      "U A",
    ]);
  });

  it("splits after the turn that a summary ends with, however its end is given", () => {
    for (const end of [{}, { to_event: "e1.3" }])
      expect(split(makeCompaction("k", [0, 1], { ...summaryOf("s"), ...end }))).toEqual(["0 1", "2 3"]);
    const whole = makeCompaction("k", [1, 1], { ...summaryOf("s"), from_event: "e1.0", to_event: "e1.3" });
    expect(split(whole)).toEqual(["0", "1", "2 3"]);
  });

  it("splits after the very first event of a turn", () => {
    const first = makeCompaction("k", [0, 1], { ...summaryOf("s"), to_event: "e1.0" });
    expect(splitAtSummaries(turns, [first]).map((stretch) => printConversation(stretch))).toEqual([
      "U A | ",
      "^ U A A | U A | U A",
    ]);
  });

  it("splits a turn at every place where summaries meet in it, in order", () => {
    const inside = (id: string, from_event: string, to_event: string) =>
      makeCompaction(id, [1, 1], { ...summaryOf("s"), from_event, to_event });
    const stretches = splitAtSummaries(turns, [inside("l", "e1.3", "e1.3"), inside("k", "e1.1", "e1.2")]);
    expect(stretches.map((stretch) => printConversation(stretch))).toEqual(["U A | ", "^ U A", "^ A", "U A | U A"]);
  });

  it("ignores an end that is not among the given events", () => {
    const gone = makeCompaction("k", [0, 1], { ...summaryOf("s"), to_event: "gone" });
    expect(split(gone)).toEqual(["0 1 2 3"]);
    expect(splitAtSummaries([], [gone])).toEqual([]);
  });
});
