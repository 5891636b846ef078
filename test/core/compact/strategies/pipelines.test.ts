// Pipelines: which steps a name means, and when they are taken.

import { describe, expect, it } from "vitest";
import {
  AUTO_PROTECT_TOKENS,
  choosePipelines,
  leastGain,
  MIN_GAIN_SHARE,
  MIN_GAIN_TOKENS,
  PROTECT_TOKENS,
  parseTarget,
  splitTangents,
  TARGET_SHARE,
  TIER_1_CHARS,
  tokensOf,
} from "../../../../src/core/compact/strategies/pipelines.ts";

const choose = (...names: string[]) => choosePipelines(names, {}, { share: 0.5 });
const steps = (...names: string[]) => choose(...names).uses.map(({ strategy }) => strategy.name);

describe("a summary with other strategies", () => {
  it("comes after them, wherever it was named, and after a pipeline at any size", () => {
    for (const names of [
      ["summarize", "strip-tools"],
      ["strip-tools", "summarize", "strip-tools"],
    ])
      expect(choose(...names)).toMatchObject({ names: ["strip-tools"], summarizeAbove: "always" });
    expect(steps("summarize", "strip-tools")).toEqual(["strip-tools"]);
    for (const pipeline of ["auto", "tiered"])
      expect(choose(pipeline, "summarize")).toMatchObject({ names: [pipeline], summarizeAbove: "always" });
  });

  it("is all there is when it is alone", () => {
    expect(steps("summarize")).toEqual(["summarize"]);
    expect(choose("summarize").summarizeAbove).toBeUndefined();
  });
});

describe("splitTangents", () => {
  it("sets the strategy that asks a person apart", () => {
    expect(splitTangents(["strip-tools", "classify-tangents", "auto"])).toEqual({
      leavesTangents: true,
      others: ["strip-tools", "auto"],
    });
    expect(splitTangents(["summarize"])).toEqual({ leavesTangents: false, others: ["summarize"] });
  });

  it("refuses it with a summary, which would replace the tangents", () => {
    expect(() => splitTangents(["summarize", "classify-tangents"])).toThrow(
      expect.objectContaining({ code: "contradictory_strategies", hints: [expect.stringContaining("--focus")] }),
    );
  });
});

describe("choosePipelines", () => {
  it("runs auto in the order of RFD 036, in batches", () => {
    expect(steps("auto")).toEqual(["strip-reasoning", "dedup-tools", "supersede", "fade-tools", "prune-tools"]);
    expect(choose("auto")).toMatchObject({
      names: ["auto"],
      protectTokens: AUTO_PROTECT_TOKENS,
      minGainTokens: MIN_GAIN_TOKENS,
      summarizeAbove: "threshold",
    });
  });

  it("takes each tier only while the view is over the target", () => {
    const { uses, minGainTokens } = choose("tiered");
    expect(minGainTokens).toBeUndefined();
    expect(
      uses.map(({ strategy, isWanted }) => [
        strategy.name,
        isWanted?.({ viewTokens: 1001, windowTokens: 2000 }),
        isWanted?.({ viewTokens: 1000, windowTokens: 2000 }),
      ]),
    ).toEqual([
      ["truncate-results", true, false],
      ["strip-tool-results", true, false],
    ]);
  });

  it("accepts other strategies with a pipeline, each once, and always takes them", () => {
    expect(steps("auto", "strip-attachments", "strip-reasoning")).toEqual([
      "strip-reasoning",
      "dedup-tools",
      "supersede",
      "fade-tools",
      "prune-tools",
      "strip-attachments",
    ]);
    const { uses } = choose("tiered", "strip-tool-results");
    expect(uses.find(({ strategy }) => strategy.name === "strip-tool-results")?.isWanted).toBeUndefined();
  });

  it("gives the tiers of a pipeline sizes of their own, and lets options say otherwise", () => {
    const optionsOf = ({ uses }: ReturnType<typeof choose>) => uses.map(({ options }) => options);
    expect(optionsOf(choose("tiered"))).toEqual([{ maxChars: TIER_1_CHARS }, {}]);
    expect(optionsOf(choosePipelines(["tiered"], { maxChars: 7, head: 1 }))).toEqual([
      { maxChars: 7, head: 1 },
      { maxChars: 7, head: 1 },
    ]);
    expect(optionsOf(choosePipelines(["tiered"], { maxChars: undefined }))[0]).toEqual({ maxChars: TIER_1_CHARS });
    expect(optionsOf(choose("truncate-results"))).toEqual([{}]);
    expect(choose("truncate-results").uses[0]?.isWanted).toBeUndefined();
    const { uses } = choose("tiered", "truncate-results", "strip-reasoning");
    expect(uses.map(({ strategy, options, isWanted }) => [strategy.name, options, isWanted === undefined])).toEqual([
      ["truncate-results", {}, true],
      ["strip-tool-results", {}, false],
      ["strip-reasoning", {}, true],
    ]);
  });

  it("says what it would go on to, and what it leaves alone", () => {
    const target = { tokens: 900 };
    const { uses: _, ...tiered } = choosePipelines(["tiered", "tiered"], {}, target);
    expect(tiered).toEqual({ names: ["tiered"], protectTokens: PROTECT_TOKENS, summarizeAbove: target });
    const { uses, ...usual } = choosePipelines(["tiered"]);
    expect(usual.summarizeAbove).toEqual({ share: TARGET_SHARE });
    expect(uses[0]?.isWanted?.({ viewTokens: 501, windowTokens: 1000 })).toBe(true);
    expect(uses[0]?.isWanted?.({ viewTokens: 500, windowTokens: 1000 })).toBe(false);
    const { uses: __, ...masked } = choose("mask-results");
    expect(masked).toEqual({
      names: ["mask-results"],
      protectTokens: PROTECT_TOKENS,
      minGainTokens: MIN_GAIN_TOKENS,
      minGainShare: MIN_GAIN_SHARE,
    });
  });

  it("leaves the most tokens alone that one of them does", () => {
    expect(choose("auto", "mask-results").protectTokens).toBe(PROTECT_TOKENS);
  });

  it("leaves turns, not tokens, alone for plain strategies, and masks results in batches", () => {
    expect(choose("strip-tools")).toEqual({ uses: expect.anything(), names: ["strip-tools"] });
    expect(choose("mask-results")).toMatchObject({ protectTokens: PROTECT_TOKENS, minGainTokens: MIN_GAIN_TOKENS });
  });

  it("refuses two pipelines, a pipeline with an exclusive strategy, and an unknown name", () => {
    expect(() => choose("auto", "tiered", "auto")).toThrow(
      expect.objectContaining({
        code: "contradictory_strategies",
        message: "The pipelines auto and tiered cannot be combined.",
        hints: ["Run one, look at `jpg diff`, then run the other."],
        data: { strategies: ["auto", "tiered"] },
      }),
    );
    expect(() => choose("auto", "classify-tangents")).toThrow(/makes a compaction of its own/);
    expect(() => choose("automatic")).toThrow(/There is no strategy "automatic".*auto/);
  });
});

describe("parseTarget", () => {
  it("reads tokens and shares of the window", () => {
    expect(["60000", "60k", "1.5m", "0.5", "50%", "1"].map((text) => tokensOf(parseTarget(text), 200_000))).toEqual([
      60_000, 60_000, 1_500_000, 100_000, 100_000, 200_000,
    ]);
  });

  it.each([
    [" 60K ", { tokens: 60_000 }],
    ["2M", { tokens: 2_000_000 }],
    ["0.5k", { tokens: 500 }],
    ["1k", { tokens: 1000 }],
    ["2", { tokens: 2 }],
    ["1", { share: 1 }],
    ["100%", { share: 1 }],
    ["0.25%", { share: 0.0025 }],
    ["0.000001", { share: 0.000001 }],
  ])("reads %j as %j", (text, target) => {
    expect(parseTarget(text)).toEqual(target);
  });

  it.each([
    "0",
    "0%",
    "0k",
    "-5",
    "many",
    "1.5",
    "1.5k5",
    "0.0001k",
    "150%",
    "",
    "5kk",
    "x5",
    "1.",
    "1.1234567",
    "1234567890",
  ])("refuses %j", (text) => {
    expect(() => parseTarget(text)).toThrow(
      expect.objectContaining({
        code: "bad_target",
        message: `A target of ${text}: expected tokens or a share of the model's window.`,
        hints: ["`-s tiered:target=60k`, or 60000, 0.5, 50%"],
      }),
    );
  });
});

describe("leastGain", () => {
  it("is a share of a small conversation, a size of a large one, and what the user says in its place", () => {
    expect(leastGain(1000)).toBe(150);
    expect(leastGain(1001)).toBe(151);
    expect(leastGain(200_000)).toBe(MIN_GAIN_TOKENS);
    expect(leastGain(1000, { minGainTokens: 400 })).toBe(400);
    expect(leastGain(1000, choosePipelines(["auto"]))).toBe(150);
  });
});
