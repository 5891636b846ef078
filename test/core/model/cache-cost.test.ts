// @module-tag law
// What a compaction costs and saves at a provider that caches prefixes.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { estimateView } from "../../../src/core/conversation/token-estimate.ts";
import { CACHE_READ, CACHE_WRITE, cacheCost } from "../../../src/core/model/cache-cost.ts";
import { makeCompaction, STRIP_TOOLS, summaryOf } from "../../helpers/make-compaction.ts";
import { parseConversation } from "../../helpers/notation.ts";
import { randomConversation } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";

const turns = parseConversation("U A | U T t A | U A");
const view = (...compactions: Compaction[]) => projectTurns(turns, compactions);
/** Every event counts one token. */
const one = { count: (): number => 1 };

describe("cacheCost", () => {
  it("counts everything before the first change as kept, everything after it as rewritten", () => {
    const after = view(makeCompaction("o", [1, 1], { turns: "omit" }));
    expect(cacheCost(view(), after, one)).toEqual({
      prefix_kept: 2,
      rewritten: 2,
      saved_per_call: 4,
      break_even_calls: Math.ceil((2 * (CACHE_WRITE - CACHE_READ)) / (4 * CACHE_READ)),
    });
  });

  it("rewrites nothing when only the end goes, and then pays at once", () => {
    const after = view(makeCompaction("o", [2, 2], { turns: "omit" }));
    expect(cacheCost(view(), after, one)).toMatchObject({ prefix_kept: 6, rewritten: 0, break_even_calls: 0 });
  });

  it("writes all anew when tools are pruned, for they begin what is sent", () => {
    expect(cacheCost(view(), view(), { ...one, overhead: 10, pruned: 4 })).toEqual({
      prefix_kept: 0,
      rewritten: 14,
      saved_per_call: 4,
      break_even_calls: Math.ceil((14 * (CACHE_WRITE - CACHE_READ)) / (4 * CACHE_READ)),
    });
    expect(cacheCost(view(), view(), { ...one, pruned: 4 })).toMatchObject({ rewritten: 8, saved_per_call: 0 });
  });

  it("never pays where the view grows or stays as large", () => {
    const grown = view(makeCompaction("s", [0, 0], summaryOf("much longer than what it stands for ".repeat(9))));
    expect(cacheCost(view(), grown).break_even_calls).toBeNull();
    expect(cacheCost(view(), view(makeCompaction("m", [1, 1], STRIP_TOOLS)), one).break_even_calls).toBeNull();
  });

  it("keeps the whole of a view that does not change, also where a summary is injected anew", () => {
    const summary = makeCompaction("s", [0, 1], summaryOf("S"));
    expect(cacheCost(view(summary), view(summary), one)).toEqual({
      prefix_kept: 4,
      rewritten: 0,
      saved_per_call: 0,
      break_even_calls: 0,
    });
  });

  it("counts what precedes every view as kept, and never as saved", () => {
    const after = view(makeCompaction("o", [0, 0], { turns: "omit" }));
    expect(cacheCost(view(), after, one)).toMatchObject({ prefix_kept: 0, rewritten: 6, saved_per_call: 2 });
    expect(cacheCost(view(), after, { ...one, overhead: 1000 })).toMatchObject({
      prefix_kept: 1000,
      rewritten: 6,
      saved_per_call: 2,
    });
  });

  it("counts only what a model is sent", () => {
    const noted = projectTurns(parseConversation("U N A"), []);
    expect(cacheCost(noted, noted, one).prefix_kept).toBe(2);
  });

  it("takes a view that grows at its end for a prefix that stays, and never pays for it", () => {
    const shorter = projectTurns(turns.slice(0, 2), []);
    expect(cacheCost(shorter, view(), one)).toEqual({
      prefix_kept: 6,
      rewritten: 2,
      saved_per_call: -2,
      break_even_calls: null,
    });
  });

  it("rounds parts of tokens, and calls up", () => {
    const after = view(makeCompaction("o", [1, 1], { turns: "omit" }));
    // 2.6 + 0.6 kept, 2.6 rewritten, 7.8 before: 3 × (1.25 − 0.1) / (5 × 0.1) = 6.9 calls.
    const { prefix_kept, rewritten, saved_per_call, break_even_calls } = cacheCost(view(), after, {
      count: () => 1.3,
      overhead: 0.6,
    });
    expect([prefix_kept, rewritten, saved_per_call]).toEqual([3, 3, 5]);
    expect(break_even_calls).toBe(7);
  });

  it("adds up for any conversation: kept and rewritten are the new view, what is saved the difference", () => {
    fc.assert(
      fc.property(randomConversation, ({ turns: raw, compactions }) => {
        const before = projectTurns(raw, []);
        const after = projectTurns(raw, compactions);
        const { prefix_kept, rewritten, saved_per_call, break_even_calls } = cacheCost(before, after);
        expect(prefix_kept + rewritten).toBe(estimateView(after));
        expect(saved_per_call).toBe(estimateView(before) - estimateView(after));
        expect(break_even_calls === null).toBe(saved_per_call < 0 || (saved_per_call === 0 && rewritten > 0));
      }),
      { numRuns: runs(200) },
    );
  });
});
