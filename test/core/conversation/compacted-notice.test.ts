import { expect, it } from "vitest";
import { renderCompacted } from "../../../src/core/conversation/token-estimate.ts";

it("shows both sizes, round numbers without a zero", () => {
  expect(renderCompacted({ before: 150_000, after: 105_000 })).toBe("— context compacted (150k → 105k tokens) —");
  expect(renderCompacted({ before: 84_249, after: 950 })).toBe("— context compacted (84.2k → 950 tokens) —");
  expect(renderCompacted({ before: 1_000_000, after: 999_949 })).toBe("— context compacted (1M → 999.9k tokens) —");
});
