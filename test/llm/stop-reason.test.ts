// The words of providers for the end of an answer.
import { expect, it } from "vitest";
import { stopReason } from "../../src/llm/client.ts";

const WORDS = { end_turn: "complete", max_tokens: "length" } as const;

it.each([
  ["end_turn", "complete"],
  ["max_tokens", "length"],
  ["a_new_word", "unknown"],
  ["constructor", "unknown"],
  [null, "unknown"],
] as const)("%s is %s", (word, reason) => {
  expect(stopReason(WORDS, word)).toBe(reason);
});
