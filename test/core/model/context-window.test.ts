import { describe, expect, it } from "vitest";
import { contextWindow } from "../../../src/core/model/token-meter.ts";

describe("contextWindow", () => {
  it("knows a family by the beginning of its name, with or without a provider", () => {
    expect(contextWindow("claude-opus-4-5-20251101")).toBe(200_000);
    expect(contextWindow("claude-3-5-haiku-latest")).toBe(200_000);
    expect(contextWindow("claude-opus-4-8")).toBe(1_000_000);
    expect(contextWindow("openrouter/anthropic/claude-sonnet-5")).toBe(1_000_000);
    expect(contextWindow("us.anthropic.claude-sonnet-4-5-20250929-v1:0")).toBe(200_000);
    expect(contextWindow("anthropic/claude-sonnet-4.5")).toBe(200_000);
    expect(contextWindow("vertex_ai/claude-opus-4-8@20260101")).toBe(1_000_000);
    expect(contextWindow("claude-sonnet-4-5[1m]")).toBe(1_000_000);
    expect(contextWindow("GPT-5.3-codex")).toBe(272_000);
    expect(contextWindow("gemini-2.5-flash")).toBe(1_048_576);
  });

  it("guesses nothing", () => {
    expect(contextWindow("llama-3.3-70b")).toBeNull();
    expect(contextWindow("")).toBeNull();
    expect(contextWindow("not-claude-3")).toBeNull();
  });
});
