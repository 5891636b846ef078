// Pipelines: which steps a name stands for, and when they are taken.
import { describe, expect, it } from "vitest";
import {
  choosePipelines,
  MIN_GAIN_TOKENS,
  PROTECT_TOKENS,
  parseTarget,
  tokensOf,
} from "../../../src/core/strategies/pipelines.ts";

const choose = (...names: string[]) => choosePipelines(names, {}, { share: 0.5 });
const steps = (...names: string[]) => choose(...names).uses.map(({ strategy }) => strategy.name);

describe("choosePipelines", () => {
  it("runs auto in the order of RFD 036, in batches", () => {
    expect(steps("auto")).toEqual(["strip-reasoning", "dedup-tools", "supersede", "strip-tool-results", "prune-tools"]);
    expect(choose("auto")).toMatchObject({
      names: ["auto"],
      protectTokens: PROTECT_TOKENS,
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

  it("takes other strategies beside a pipeline, each once, and always", () => {
    expect(steps("auto", "strip-attachments", "strip-reasoning")).toEqual([
      "strip-reasoning",
      "dedup-tools",
      "supersede",
      "strip-tool-results",
      "prune-tools",
      "strip-attachments",
    ]);
    const { uses } = choose("tiered", "strip-tool-results");
    expect(uses.find(({ strategy }) => strategy.name === "strip-tool-results")?.isWanted).toBeUndefined();
  });

  it("leaves turns, not tokens, alone for plain strategies, and masks results in batches", () => {
    expect(choose("strip-tools")).toEqual({ uses: expect.anything(), names: ["strip-tools"] });
    expect(choose("mask-results")).toMatchObject({ protectTokens: PROTECT_TOKENS, minGainTokens: MIN_GAIN_TOKENS });
  });

  it("refuses two pipelines, a pipeline beside one that stands alone, and a name that is none", () => {
    expect(() => choose("auto", "tiered")).toThrow(/cannot be combined/);
    expect(() => choose("auto", "classify-tangents")).toThrow(/cannot be combined/);
    expect(() => choose("automatic")).toThrow(/There is no strategy "automatic".*auto/);
  });
});

describe("parseTarget", () => {
  it("reads tokens and shares of the window", () => {
    expect(["60000", "60k", "1.5m", "0.5", "50%", "1"].map((text) => tokensOf(parseTarget(text), 200_000))).toEqual([
      60_000, 60_000, 1_500_000, 100_000, 100_000, 200_000,
    ]);
  });

  it.each(["0", "-5", "many", "1.5", "150%", "", "5kk"])("refuses %j", (text) => {
    expect(() => parseTarget(text)).toThrow(/expected tokens or a share/);
  });
});
