import { describe, expect, it } from "vitest";
import type { StrategyOptions } from "../../../../src/core/compact/strategies/strategy.ts";
import { chooseStrategies, STRATEGIES } from "../../../../src/core/compact/strategies/strategy-list.ts";
import { STRATEGY_NAMES } from "../../../../src/core/compact/strategies/strategy-names.ts";
import { parseTurnList } from "../../../../src/core/conversation/range-bound.ts";

describe("chooseStrategies", () => {
  it("gives each named strategy once, in order", () => {
    const uses = chooseStrategies(["dedup-tools", "strip-reasoning", "dedup-tools"]);
    expect(uses.map(({ strategy }) => strategy.name)).toEqual(["dedup-tools", "strip-reasoning"]);
  });

  it("knows every strategy by its own name", () => {
    expect(STRATEGIES.map(({ name }) => name)).toEqual(STRATEGY_NAMES);
    for (const strategy of STRATEGIES) expect(chooseStrategies([strategy.name])[0]?.strategy).toBe(strategy);
  });

  it("says which name was meant", () => {
    expect(() => chooseStrategies(["dedup-tool"])).toThrow(
      expect.objectContaining({ code: "unknown_strategy", hints: ["Did you mean dedup-tools?"] }),
    );
    expect(() => chooseStrategies(["zzz"])).toThrow(/expected one of strip-reasoning, dedup-tools/);
  });

  it("refuses to combine an exclusive strategy, in any order", () => {
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
    expect(chooseStrategies(["dedup-tools"], { newest: undefined })).toHaveLength(1);
    for (const options of [{ maxChars: 0 }, { head: 1.5 }, { head: Number.NaN }])
      expect(() => chooseStrategies(["truncate-results"], options)).toThrow(
        expect.objectContaining({ code: "bad_option" }),
      );
  });
});

describe("what chooseStrategies says of what it refuses", () => {
  const [below, above] = [-1, Number.MAX_SAFE_INTEGER + 1];

  it.each<[string, readonly string[], StrategyOptions, object]>([
    ...["drop-failed", "strip-arguments"].map((name): [string, readonly string[], StrategyOptions, object] => [
      `${name}, which is no more`,
      [name],
      {},
      { code: "unknown_strategy", hints: [expect.stringContaining("Use fade-tools")] },
    ]),
    [
      "a name that is like none",
      ["zzz"],
      {},
      {
        code: "unknown_strategy",
        message: `There is no strategy "zzz": expected one of ${[...STRATEGIES.map(({ name }) => name), "auto", "tiered"].join(", ")}.`,
        hints: ["`jpg compact --help` lists what can be given."],
        data: { name: "zzz", known: [...STRATEGIES.map(({ name }) => name), "auto", "tiered"] },
      },
    ],
    [
      "company",
      ["strip-tools", "summarize"],
      {},
      {
        code: "contradictory_strategies",
        message: "The strategy summarize makes a compaction of its own.",
        hints: ["Run `jpg compact --strategy summarize` and the others one after the other."],
        data: { strategies: ["strip-tools", "summarize"] },
      },
    ],
    [
      "an option of another",
      ["dedup-tools"],
      { maxChars: 5 },
      {
        code: "unused_option",
        message: "--max-chars has no effect without --strategy supersede or truncate-results.",
        hints: ["Add the strategy, or leave --max-chars out."],
      },
    ],
    [
      "an option of one with its own",
      ["truncate-results"],
      { head: 0, newest: 1 },
      { code: "unused_option", message: "--newest has no effect without --strategy mask-results." },
    ],
    [
      "no character",
      ["supersede"],
      { maxChars: 0 },
      { code: "bad_option", message: "max-chars: expected a whole number above 0." },
    ],
    ["half a character", ["supersede"], { maxChars: 1.5 }, { code: "bad_option" }],
    [
      "less than no head",
      ["truncate-results"],
      { head: -0.1 },
      { code: "bad_option", message: "head: expected a share from 0 to 1." },
    ],
    ["more than all", ["truncate-results"], { head: 1.1 }, { code: "bad_option" }],
    [
      "fewer than none",
      ["mask-results"],
      { newest: below },
      { code: "bad_option", message: "newest: expected a whole number, 0 or more." },
    ],
    ["more than can be counted", ["mask-results"], { newest: above }, { code: "bad_option" }],
  ])("names %s", (_, names, options, error) => {
    expect(() => chooseStrategies(names, options)).toThrow(expect.objectContaining(error));
  });

  it.each<[string, StrategyOptions]>([
    ["truncate-results", { maxChars: 1, head: 0 }],
    ["truncate-results", { head: 1 }],
    ["mask-results", { newest: 0 }],
  ])("nothing of %s with %j", (name, options) => {
    expect(chooseStrategies([name], options)).toMatchObject([{ strategy: { name }, options }]);
  });

  it("nothing of an exclusive one that is named twice", () => {
    expect(chooseStrategies(["summarize", "summarize"])).toHaveLength(1);
  });
});

describe("parseTurnList", () => {
  it("joins what touches", () => {
    expect(parseTurnList("5")).toEqual([{ from: 5, to: 5 }]);
    expect(parseTurnList(" 5-5 ")).toEqual([{ from: 5, to: 5 }]);
    expect(parseTurnList("7, 3-5,6")).toEqual([{ from: 3, to: 7 }]);
    expect(parseTurnList("3-9,4-5")).toEqual([{ from: 3, to: 9 }]);
  });

  it("keeps apart what lies apart", () => {
    expect(parseTurnList("5-7,3")).toEqual([
      { from: 3, to: 3 },
      { from: 5, to: 7 },
    ]);
  });

  it.each(["", "a", "3-", "7-5", "-3", "1,,2", "1.5", "1234567890", "x3", "3x", "1-2-3"])("refuses %j", (text) => {
    expect(() => parseTurnList(text)).toThrow(
      expect.objectContaining({
        code: "bad_turns",
        message: `A list of turns is turn positions like 3,5-7; got "${text}".`,
        hints: ["`jpg print` shows the turns."],
      }),
    );
  });
});
