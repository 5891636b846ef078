// What is counted and what is not.
import { expect, it } from "vitest";
import { countConversation } from "../../../src/core/loss/conversation-stats.ts";
import { makeCompaction } from "../../helpers/make-compaction.ts";
import { parseConversation } from "../../helpers/notation.ts";

// covers: 064 "Not counted by length"
// covers: 064 "1.3 Treated like config deltas: preserved, not counted"

it("counts turn_starts and notes as events, but no unknown kinds, and neither reasoning nor harness requests as messages", () => {
  const stats = countConversation(parseConversation("U R T t A N X | S Q D A"), [makeCompaction("m", [0, 0])]);
  expect(stats).toEqual({ events: 12, turns: 2, messages: 4, compactions: 1 });
});

it("counts nothing in an empty conversation", () => {
  expect(countConversation([], [])).toEqual({ events: 0, turns: 0, messages: 0, compactions: 0 });
});
