import { describe, expect, it } from "vitest";
import { tokenizerFactor } from "../../../src/core/model/token-meter.ts";

describe("tokenizerFactor", () => {
  it.each([
    ["claude-opus-4-5-20251101", 1.05],
    ["anthropic/claude-sonnet-4-6", 1.05],
    ["claude-3-haiku-20240307", 1.05],
    ["claude-3-5-sonnet-latest", 1.05],
    ["claude-opus-4-7", 1.5],
    ["claude-opus-4-8[1m]", 1.5],
    ["claude-fable-5", 1.5],
    ["claude-haiku-5-5", 1.5],
    ["gpt-5.4", 1],
    ["llama-3.3-70b", 1],
    [null, 1],
  ])("of %s is %d", (model, factor) => {
    expect(tokenizerFactor(model)).toBe(factor);
  });
});
