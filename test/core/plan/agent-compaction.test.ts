// @module-tag law
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { judgeAgentCompaction, LEAST_AGENT_TOKENS } from "../../../src/core/compact/automatic.ts";

// covers: v2 "Tool called under target: "No compaction needed""
// covers: v2 "Risk: over-compaction → at least 10k tokens"

describe("judgeAgentCompaction", () => {
  it.each([
    [0, 200_000, "too_small"],
    [9_999, 200_000, "too_small"],
    [10_000, 200_000, "not_needed"],
    [100_000, 200_000, "not_needed"],
    [100_001, 200_000, "compact"],
    [10_000, 8_000, "compact"],
    [9_999, 8_000, "too_small"],
  ])("judges %d tokens before a window of %d: %s", (tokens, window, expected) => {
    const target = expected === "too_small" ? {} : { target: window / 2 };
    expect(judgeAgentCompaction({ tokens, overhead: 0, windowTokens: window })).toEqual({ type: expected, ...target });
  });

  it("counts for the floor only what a compaction can reach", () => {
    expect(judgeAgentCompaction({ tokens: 29_999, overhead: 20_000, windowTokens: 8_000 }).type).toBe("too_small");
    expect(judgeAgentCompaction({ tokens: 30_000, overhead: 20_000, windowTokens: 8_000 }).type).toBe("compact");
  });

  it("never refuses a larger view what it grants a smaller one, and aims at half of the window", () => {
    fc.assert(
      fc.property(fc.nat(3_000_000), fc.nat(1_000_000), fc.nat(2_000_000), (tokens, more, window) => {
        const judge = (size: number): ReturnType<typeof judgeAgentCompaction> =>
          judgeAgentCompaction({ tokens: size, overhead: 0, windowTokens: window });
        const [one, other] = [judge(tokens), judge(tokens + more)];
        if (one.type === "compact") expect(other.type).toBe("compact");
        if (one.type === "compact") expect(one.target).toBe(Math.round(window / 2));
        if (tokens < LEAST_AGENT_TOKENS) expect(one.type).toBe("too_small");
      }),
    );
  });
});
