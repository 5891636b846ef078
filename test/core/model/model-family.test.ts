import { describe, expect, it } from "vitest";
import { isSameModelFamily, modelFamily } from "../../../src/core/model/model-family.ts";

describe("modelFamily", () => {
  it.each([
    ["claude-sonnet-4-5-20250929", "claude-sonnet-4-5"],
    ["claude-sonnet-4-5[1m]", "claude-sonnet-4-5"],
    ["anthropic/claude-opus-4-8", "claude-opus-4-8"],
    ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"],
    ["claude-sonnet-4-5@20250929", "claude-sonnet-4-5"],
    ["claude-3-7-sonnet-latest", "claude-3-7-sonnet"],
    ["gpt-5.4-2026-01-02", "gpt-5.4"],
    ["claude-opus-4-5", "claude-opus-4-5"],
  ])("takes from %s what does not tell models apart", (name, family) => {
    expect(modelFamily(name)).toBe(family);
  });

  it("tells versions and sizes apart", () => {
    expect(isSameModelFamily("claude-opus-4-5", "claude-opus-4-5-20251101")).toBe(true);
    expect(isSameModelFamily("claude-opus-4-5", "claude-opus-4-6")).toBe(false);
    expect(isSameModelFamily("claude-opus-4-5", "claude-sonnet-4-5")).toBe(false);
  });
});
