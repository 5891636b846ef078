import { describe, expect, it } from "vitest";
import { isSameModelFamily, modelFamily } from "../../../src/core/model/model-name.ts";

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
    ["anthropic/claude-sonnet-4.5:thinking", "claude-sonnet-4-5"],
    ["claude-4.5-sonnet", "claude-sonnet-4-5"],
    ["claude-3.5-sonnet", "claude-3-5-sonnet"],
    ["vertex_ai/claude-opus-4-1@20250805", "claude-opus-4-1"],
    ["arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"],
    ["databricks-claude-sonnet-4-5", "claude-sonnet-4-5"],
    ["us.amazon.nova-pro-v1:0", "amazon.nova-pro"],
    ["openrouter/openai/gpt-5.1", "gpt-5.1"],
    ["gemini-2.5-pro", "gemini-2.5-pro"],
    ["gpt-4.1", "gpt-4.1"],
    ["qwen3:8b", "qwen3:8b"],
  ])("takes from %s what does not tell models apart", (name, family) => {
    expect(modelFamily(name)).toBe(family);
  });

  it("distinguishes versions and sizes", () => {
    expect(isSameModelFamily("claude-opus-4-5", "claude-opus-4-5-20251101")).toBe(true);
    expect(isSameModelFamily("claude-opus-4-5", "claude-opus-4-6")).toBe(false);
    expect(isSameModelFamily("claude-opus-4-5", "claude-sonnet-4-5")).toBe(false);
  });
});
