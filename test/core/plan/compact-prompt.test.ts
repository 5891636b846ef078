// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NO_OFFERS, offersCompaction } from "../../../src/core/compact/automatic.ts";

// covers: history "Auto-prompt logic"
// covers: history "Not when disabled for the session"
// covers: history "count > 50 and count % 10 == 0"
// covers: history "At 50, 60, 70 …"
// covers: history "Not within 20 messages of the last compaction"
// covers: history "State: disabled flag, last compaction position"
// covers: history "Auto-prompt 50, then every 10"
// covers: history "Re-prompt after 20 new messages"

describe("the offer to compact", () => {
  it.each([
    ["a short conversation", 49, null, null, false],
    ["fifty messages", 50, null, null, true],
    ["far more than fifty", 400, null, null, true],
    ["nine messages after the last offer", 59, 50, null, false],
    ["ten messages after the last offer", 60, 50, null, true],
    ["a late first offer, ten messages on", 85, 75, null, true],
    ["a compaction 19 messages ago", 60, null, 19, false],
    ["a compaction 20 messages ago", 60, null, 20, true],
    ["a compaction long ago, an offer just now", 60, 55, 45, false],
  ])("%s", (_what, messages, offeredAt, sinceCompaction, expected) => {
    expect(offersCompaction({ disabled: false, offeredAt }, { messages, sinceCompaction })).toBe(expected);
  });

  it("is never made again in a chat whose user said so", () => {
    fc.assert(
      fc.property(fc.nat(1000), fc.option(fc.nat(1000)), (messages, sinceCompaction) => {
        expect(offersCompaction({ disabled: true, offeredAt: null }, { messages, sinceCompaction })).toBe(false);
      }),
    );
  });

  it("is made at most every ten messages of a conversation that grows, and no later than the next message after ten", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 60, maxLength: 120 }), (steps) => {
        const made: number[] = [];
        let offers = NO_OFFERS;
        let messages = 0;
        for (const step of steps) {
          messages += step;
          if (!offersCompaction(offers, { messages, sinceCompaction: null })) continue;
          made.push(messages);
          offers = { ...offers, offeredAt: messages };
        }
        expect(made[0]).toBeGreaterThanOrEqual(50);
        for (const [at, count] of made.slice(1).entries()) {
          expect(count - made[at]!).toBeGreaterThanOrEqual(10);
          expect(count - made[at]!).toBeLessThanOrEqual(12);
        }
      }),
    );
  });
});
