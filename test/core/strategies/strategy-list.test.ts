import { describe, expect, it } from "vitest";
import { chooseStrategies, STRATEGIES } from "../../../src/core/strategies/strategy-list.ts";
import { parseTurnList } from "../../../src/core/strategies/turn-list.ts";

describe("chooseStrategies", () => {
  it("gives each named strategy once, in order", () => {
    const uses = chooseStrategies(["dedup-tools", "strip-reasoning", "dedup-tools"]);
    expect(uses.map(({ strategy }) => strategy.name)).toEqual(["dedup-tools", "strip-reasoning"]);
  });

  it("knows every strategy by its own name", () => {
    for (const strategy of STRATEGIES) expect(chooseStrategies([strategy.name])[0]?.strategy).toBe(strategy);
  });

  it("says which name was meant", () => {
    expect(() => chooseStrategies(["dedup-tool"])).toThrow(
      expect.objectContaining({ code: "unknown_strategy", hints: ["Did you mean dedup-tools?"] }),
    );
    expect(() => chooseStrategies(["zzz"])).toThrow(/there are: strip-reasoning, dedup-tools/);
  });

  it("refuses company for what stands alone, in any order", () => {
    for (const names of [
      ["summarize", "dedup-tools"],
      ["strip-tools", "classify-tangents"],
    ])
      expect(() => chooseStrategies(names)).toThrow(expect.objectContaining({ code: "contradictory_strategies" }));
  });

  it("refuses options that none of the strategies reads, and values out of bounds", () => {
    expect(() => chooseStrategies(["dedup-tools"], { newest: 3 })).toThrow(
      expect.objectContaining({ code: "unused_option", message: expect.stringContaining("mask-results") }),
    );
    expect(() => chooseStrategies([], { maxChars: 3 })).toThrow(expect.objectContaining({ code: "unused_option" }));
    for (const options of [{ maxChars: 0 }, { head: 1.5 }, { head: Number.NaN }])
      expect(() => chooseStrategies(["truncate-results"], options)).toThrow(
        expect.objectContaining({ code: "bad_option" }),
      );
  });
});

describe("parseTurnList", () => {
  it("joins what touches", () => {
    expect(parseTurnList("5")).toEqual([{ from: 5, to: 5 }]);
    expect(parseTurnList("7, 3-5,6")).toEqual([{ from: 3, to: 7 }]);
    expect(parseTurnList("3-9,4-5")).toEqual([{ from: 3, to: 9 }]);
  });

  it("keeps apart what lies apart", () => {
    expect(parseTurnList("5-7,3")).toEqual([
      { from: 3, to: 3 },
      { from: 5, to: 7 },
    ]);
  });

  it.each(["", "a", "3-", "7-5", "-3", "1,,2", "1.5"])("refuses %j", (text) => {
    expect(() => parseTurnList(text)).toThrow(expect.objectContaining({ code: "bad_turns" }));
  });
});
