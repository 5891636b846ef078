import { describe, expect, it } from "vitest";
import { typicalClaudeOverhead } from "../../../src/formats/claude-code/agent.ts";

describe("typicalClaudeOverhead", () => {
  it.each([
    ['{"version":"2.1.17"}', 31_000],
    ['{"version": "2.0.76"}', 31_000],
    ['{"version":"2.1.99"}', 31_000],
    ['{"version":"2.1.100"}', 20_000],
    ['{"version":"3.0.0"}', 20_000],
    ['{"version":"[trimmed]"}', null],
    ["", null],
  ])("of %s is %s", (line, tokens) => {
    expect(typicalClaudeOverhead(line)).toBe(tokens);
  });
});
