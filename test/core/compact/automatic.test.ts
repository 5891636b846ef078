// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AutoFacts,
  decideAutoCompaction,
  isWarningSize,
  judgeAgentCompaction,
  LEAST_AGENT_TOKENS,
  NO_OFFERS,
  offersCompaction,
  triggerRatio,
} from "../../../src/core/compact/automatic.ts";

const SETTINGS = { enabled: true, trigger_ratio: 0.75, warning_ratio: 0.7, min_turns: 5 };

function facts(changes: Partial<AutoFacts> = {}): AutoFacts {
  return {
    settings: SETTINGS,
    place: "between_turns",
    isTiered: false,
    tokens: 160_000,
    windowTokens: 200_000,
    turns: 12,
    triedAt: null,
    hasWarned: false,
    ...changes,
  };
}

const COMPACT = { type: "compact", by: "profile" };
const TIERS = { type: "compact", by: "tiers" };
const WARN = { type: "warn" };

describe("decideAutoCompaction", () => {
  const cases: readonly [string, Partial<AutoFacts>, unknown][] = [
    ["does nothing while it is off", { settings: { ...SETTINGS, enabled: false } }, null],
    ["does nothing where the window is unknown", { windowTokens: null }, null],
    ["compacts above three quarters of the window", { tokens: 150_001 }, COMPACT],
    ["warns at three quarters of the window", { tokens: 150_000 }, WARN],
    ["warns from seven tenths of the window on", { tokens: 140_000 }, WARN],
    ["is silent below seven tenths", { tokens: 139_999 }, null],
    ["warns once", { tokens: 145_000, hasWarned: true }, null],
    ["takes the ratio that is set", { tokens: 101_000, settings: { ...SETTINGS, trigger_ratio: 0.5 } }, COMPACT],
    ["leaves conversations of min_turns alone", { turns: 5, hasWarned: true }, null],
    ["compacts from one turn more on", { turns: 6 }, COMPACT],
    ["warns of a short conversation that it leaves alone", { turns: 5 }, WARN],
    ["does not try again without a new turn", { triedAt: 12, hasWarned: true }, null],
    ["tries again after a new turn", { triedAt: 11, hasWarned: true }, COMPACT],
    ["waits for four fifths by tiers", { isTiered: true, tokens: 160_000 }, WARN],
    ["compacts by tiers above four fifths", { isTiered: true, tokens: 160_001 }, COMPACT],
    [
      "takes a ratio that is set for tiers too",
      { isTiered: true, tokens: 101_000, settings: { ...SETTINGS, trigger_ratio: 0.5 } },
      COMPACT,
    ],
    ["waits for four fifths inside a loop", { place: "in_loop", tokens: 159_999 }, WARN],
    ["compacts by tiers inside a loop from four fifths on", { place: "in_loop", tokens: 160_000 }, TIERS],
    [
      "waits for a higher ratio inside a loop too",
      { place: "in_loop", tokens: 175_000, hasWarned: true, settings: { ...SETTINGS, trigger_ratio: 0.9 } },
      null,
    ],
    ["does not try twice inside one loop", { place: "in_loop", triedAt: 12, hasWarned: true }, null],
    [
      "tries again inside a loop that has grown by a twentieth of the window since",
      { place: "in_loop", triedAt: 12, leftTokens: 150_000 },
      TIERS,
    ],
    ["waits inside a loop that has not", { place: "in_loop", triedAt: 12, leftTokens: 150_001, hasWarned: true }, null],
    ["leaves no loop alone for having few turns before it", { place: "in_loop", turns: 0 }, TIERS],
    ["does not try again between turns for having grown", { triedAt: 12, leftTokens: 1, hasWarned: true }, null],
  ];
  for (const [name, changes, expected] of cases) {
    it(name, () => expect(decideAutoCompaction(facts(changes))).toEqual(expected));
  }
});

describe("the size to warn of", () => {
  it.each([
    [69, 100, 0.7, false],
    [70, 100, 0.7, true],
    [0, 100, 0, false],
    [1, 100, 0, true],
  ])("is %d tokens of %d at a share of %d: %s", (tokens, window, warning_ratio, expected) => {
    expect(isWarningSize(tokens, window, { warning_ratio })).toBe(expected);
  });
});

describe("the share of the window above which it compacts", () => {
  it.each([
    ["between_turns", false, 0.75, 0.75],
    ["between_turns", true, 0.75, 0.8],
    ["between_turns", true, 0.5, 0.5],
    ["between_turns", false, 0.9, 0.9],
    ["in_loop", false, 0.75, 0.8],
    ["in_loop", true, 0.5, 0.8],
    ["in_loop", false, 0.9, 0.9],
  ] as const)("%s, by tiers %s, with %d set, is %d", (place, isTiered, trigger_ratio, expected) => {
    expect(triggerRatio({ settings: { ...SETTINGS, trigger_ratio }, place, isTiered })).toBe(expected);
  });
});

const share = fc.double({ min: 0, max: 1, noNaN: true });
const anyFacts: fc.Arbitrary<AutoFacts> = fc.record({
  settings: fc.record({
    enabled: fc.boolean(),
    trigger_ratio: fc.oneof(fc.constant(0.75), share),
    warning_ratio: share,
    min_turns: fc.nat(20),
  }),
  place: fc.constantFrom("between_turns" as const, "in_loop" as const),
  isTiered: fc.boolean(),
  tokens: fc.nat(300_000),
  windowTokens: fc.option(fc.integer({ min: 1, max: 300_000 })),
  turns: fc.nat(40),
  triedAt: fc.option(fc.nat(40)),
  hasWarned: fc.boolean(),
});
const weight = (of: AutoFacts): number => ["", "warn", "compact"].indexOf(decideAutoCompaction(of)?.type ?? "");

describe("laws of automatic compaction", () => {
  it("never does less for more tokens", () => {
    fc.assert(
      fc.property(anyFacts, fc.nat(300_000), (one, more) => {
        expect(weight({ ...one, tokens: one.tokens + more })).toBeGreaterThanOrEqual(weight(one));
      }),
    );
  });

  it("never does anything while it is off or the window is unknown", () => {
    fc.assert(
      fc.property(anyFacts, (one) => {
        expect(decideAutoCompaction({ ...one, settings: { ...one.settings, enabled: false } })).toBeNull();
        expect(decideAutoCompaction({ ...one, windowTokens: null })).toBeNull();
      }),
    );
  });

  it("never compacts twice without a new turn, nor warns twice without having been below the warning", () => {
    fc.assert(
      fc.property(
        anyFacts,
        fc.array(fc.record({ grown: fc.integer({ min: -60_000, max: 60_000 }), turn: fc.boolean() })),
        (one, steps) => {
          let state = one;
          let compactedAt: number | null = one.triedAt;
          let isSilent = one.hasWarned;
          for (const { grown, turn } of steps) {
            state = { ...state, tokens: Math.max(0, state.tokens + grown), turns: state.turns + (turn ? 1 : 0) };
            const { tokens, windowTokens, settings } = state;
            const decision = decideAutoCompaction(state);
            const isLarge = windowTokens !== null && isWarningSize(tokens, windowTokens, settings);
            if (decision?.type === "compact") {
              expect(compactedAt === null || state.turns > compactedAt).toBe(true);
              expect(tokens / (windowTokens ?? 0)).toBeGreaterThanOrEqual(triggerRatio(state) - 1e-9);
              compactedAt = state.turns;
            } else if (decision?.type === "warn") {
              expect(isSilent).toBe(false);
              expect(isLarge).toBe(true);
            }
            isSilent = isLarge;
            state = { ...state, triedAt: compactedAt, hasWarned: isLarge };
          }
        },
      ),
    );
  });

  it("touches only complete turns by tiers while a turn is open", () => {
    fc.assert(
      fc.property(anyFacts, (one) => {
        const decision = decideAutoCompaction(one);
        if (decision?.type === "compact") expect(decision.by === "tiers").toBe(one.place === "in_loop");
      }),
    );
  });
});

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
